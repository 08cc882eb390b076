package import SecretCrypto

/// A part of an answer: some of the results, with the secrets that belong to them.
///
/// An answer is a sequence of frames, made as it is read. The last one says how the call has ended; unless that is 0
/// (errSecSuccess), what came before is void.
package struct ResponseFrame: ~Copyable, Sendable {
    /// One for each result: `.secret` (kSecReturnData alone), `.data` (kSecReturnPersistentRef alone) or `.dictionary`.
    package let entries: [PropertyList]
    package let isLast: Bool
    /// OSStatus; 0 in every frame but the last.
    package let status: Int32
    /// Whether the result is an array, also of a single entry; false in every frame but the last.
    package let isList: Bool
    /// The secrets one after the other, in locked memory; nil without any.
    private let secrets: SecretBytes?
    private let ranges: [Range<Int>]

    /// - Parameters:
    ///   - secrets: the bytes of all secrets, one after the other; nil for none.
    ///   - counts: how many bytes each has.
    /// - Throws: `malformed` unless the counts are those of the bytes.
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

    /// How many secrets there are.
    package var secretCount: Int { ranges.count }

    /// The bytes that `.secret(index)` of an entry stands for; nil if there are none.
    @_lifetime(borrow self)
    package func secret(_ index: Int) -> RawSpan? {
        guard ranges.indices.contains(index) else { return nil }
        switch secrets {
        case .some(let secrets): return secrets.bytes.extracting(ranges[index])
        case nil: return RawSpan()
        }
    }
}
