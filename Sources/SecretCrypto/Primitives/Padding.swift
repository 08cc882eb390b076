/// The padding that hides the sizes of secrets.
package enum Padding {
    /// Returns the padded size of `count` bytes.
    ///
    /// At least 64; multiples of 64 up to 1 KiB; then Padmé ("Reducing Metadata Leakage from Encrypted Files and
    /// Communication with PURBs", PoPETs 2019, 4.2), which adds at most 12 % and leaks O(log log count) bits. A count
    /// that is too large to be padded is returned unchanged.
    package static func paddedCount(_ count: Int) -> Int {
        guard count > 1024 else { return max(64, (max(0, count) + 63) & ~63) }
        let exponent = Int.bitWidth - 1 - count.leadingZeroBitCount
        let mantissaBits = Int.bitWidth - exponent.leadingZeroBitCount
        let mask = (1 << (exponent - mantissaBits)) - 1
        let (sum, overflow) = count.addingReportingOverflow(mask)
        return overflow ? count : sum & ~mask
    }
}
