import SecretCrypto

/// The end of a response.
package struct ResponseStatus: Hashable, Sendable {
    /// OSStatus
    package var status: Int32
    /// Whether the result is an array, even of one entry.
    package var isList: Bool

    package init(status: Int32, isList: Bool = false) {
        self.status = status
        self.isList = isList
    }
}

extension ResponseFrame {
    private static let entriesKey = "entries"
    private static let secretsKey = "secrets"
    private static let statusKey = "status"
    private static let listKey = "list"

    /// Returns the header and list of a frame. The secrets follow without separators.
    ///
    /// - Parameters:
    ///   - counts: The size of each secret in bytes.
    ///   - ending: The status in the last frame; nil in others.
    package static func head(
        entries: [PropertyList], counts: [Int], ending: ResponseStatus?
    ) throws(FrameError) -> [UInt8] {
        var values: [String: PropertyList] = [
            entriesKey: .array(entries), secretsKey: .array(counts.map { .integer(Int64($0)) }),
        ]
        if let ending {
            values[statusKey] = .integer(Int64(ending.status))
            values[listKey] = .boolean(ending.isList)
        }
        var total = 0
        for count in counts {
            let (sum, overflow) = total.addingReportingOverflow(count)
            guard count >= 0, !overflow else { throw .tooLong }
            total = sum
        }
        return try FrameHeader.head(of: .dictionary(values), secretCount: total)
    }

    /// Creates a frame from its list and the bytes of its secrets.
    ///
    /// - Throws: `malformed` unless the list has exactly the parts of a frame, each of the right type.
    init(list bytes: [UInt8], secrets: consuming SecretBytes?) throws(FrameError) {
        guard case .dictionary(var values) = try PropertyList(binary: bytes),
            case .array(let entries)? = values.removeValue(forKey: Self.entriesKey),
            case .array(let sizes)? = values.removeValue(forKey: Self.secretsKey)
        else { throw .malformed }
        let ending = try Self.ending(from: &values)
        guard values.isEmpty else { throw .malformed }
        try self.init(
            entries: entries, isLast: ending != nil, status: ending?.status ?? 0, isList: ending?.isList ?? false,
            secrets: secrets, counts: Self.counts(sizes))
    }

    private static func ending(from values: inout [String: PropertyList]) throws(FrameError) -> ResponseStatus? {
        switch (values.removeValue(forKey: statusKey), values.removeValue(forKey: listKey)) {
        case (nil, nil): return nil
        case (.integer(let number)?, .boolean(let isList)?):
            guard let status = Int32(exactly: number) else { throw .malformed }
            return ResponseStatus(status: status, isList: isList)
        default: throw .malformed
        }
    }

    private static func counts(_ sizes: [PropertyList]) throws(FrameError) -> [Int] {
        var counts: [Int] = []
        for size in sizes {
            guard case .integer(let number) = size, let count = Int(exactly: number) else { throw .malformed }
            counts.append(count)
        }
        return counts
    }
}
