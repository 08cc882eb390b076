package import SecretCrypto

/// A part of a response: some of the results, and the secrets that belong to them.
///
/// A response is a sequence of frames, generated while it is read. The last frame contains the status of the call.
/// Unless it is 0 (errSecSuccess), the preceding frames are invalid.
package struct ResponseFrame: ~Copyable, Sendable {
    /// The results: `.secret` (kSecReturnData alone), `.data` (kSecReturnPersistentRef alone) or `.dictionary`.
    package let entries: [PropertyList]
    package let isLast: Bool
    /// The OSStatus; 0 in every frame except the last.
    package let status: Int32
    /// Whether the result is an array, even of one entry. False in every frame except the last.
    package let isList: Bool
    /// The secrets without separators, in locked memory; nil without secrets.
    private let secrets: SecretBytes?
    private let ranges: [Range<Int>]

    /// Creates a frame.
    ///
    /// - Parameters:
    ///   - secrets: The bytes of all secrets without separators; nil for none.
    ///   - counts: The size of each secret in bytes.
    /// - Throws: `malformed` unless the sizes match the bytes.
    package init(
        entries: [PropertyList], isLast: Bool, status: Int32 = 0, isList: Bool = false,
        secrets: consuming SecretBytes? = nil, counts: [Int] = []
    ) throws(FrameError) {
        var ranges: [Range<Int>] = []
        var end = 0
        let total = secrets?.count ?? 0
        for count in counts {
            guard count >= 0, count <= total - end else { throw .malformed }
            ranges.append(end..<end + count)
            end += count
        }
        guard end == total else { throw .malformed }
        self.entries = entries
        self.isLast = isLast
        self.status = status
        self.isList = isList
        self.secrets = secrets
        self.ranges = ranges
    }

    /// The number of secrets.
    package var secretCount: Int { ranges.count }

    /// Returns the bytes to which `.secret(index)` of an entry refers; nil without secrets.
    @_lifetime(borrow self)
    package func secret(_ index: Int) -> RawSpan? {
        guard ranges.indices.contains(index) else { return nil }
        switch secrets {
        case .some(let secrets): return secrets.bytes.extracting(ranges[index])
        case nil: return RawSpan()
        }
    }
}
