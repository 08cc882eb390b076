import Keychain
import KeychainTree

/// X2: values of extended attributes. The first byte selects the attribute, the second the kind of value.
extension FuzzTarget {
    static let attributes = FuzzTarget(
        "attributes", limit: 512,
        words: [
            "2026-11-22T05:26:01Z", "+01:00", "-00:30", ".123456789", "WhenUnlocked", "kSecAttrAccessible", "HTTPS",
            "kSecAttrProtocolHTTPS", "htps", "NSFileProtectionComplete", "AfterFirstUnlockThisDeviceOnly", "cku",
        ],
        examples: { attributeExamples }
    ) { input in
        var reader = InputReader(input)
        let key = reader.pick(AttributeKey.allCases) ?? .account
        let current: AttributeValue? = reader.byte() % 2 == 1 ? .data([]) : nil
        let bytes = reader.remaining()
        guard let value = AttributeTextCodec.decode(bytes, for: key, current: current) else { return }
        try check(value, of: key, read: bytes)
        let text = AttributeTextCodec.encode(value, for: key)
        let again = AttributeTextCodec.decode(text, for: key, current: current)
        try hold(again == value, "\(key): what is shown is not what is read")
        try hold(AttributeTextCodec.encode(value, for: key) == text, "\(key): shown in two ways")
    }

    private static let attributeExamples: [[UInt8]] = {
        let values = [
            "", "0", "1", "-7", "9223372036854775807", "abcd", "HTTPS", "htps", "kSecAttrProtocolSSH", "WhenUnlocked",
            "ak",
            "2026-11-22T05:26:01Z", "0001-01-01T00:00:00.5+23:59", "9999-12-31T23:59:59.999999999-00:01", "ü",
        ]
        return AttributeKey.allCases.indices.flatMap { index in
            values.enumerated().filter { ($0.offset + index) % 3 == 0 }.map { place, text in
                [UInt8(index), UInt8(place % 2)] + Array(text.utf8)
            }
        }
    }()

    /// Checks that the decoded value stores the input's bytes, and that constants, dates and numbers are recognized
    /// only in ASCII.
    private static func check(_ value: AttributeValue, of key: AttributeKey, read bytes: [UInt8]) throws {
        let isASCII = bytes.allSatisfy { $0 < 0x80 }
        switch key.definition.kind {
        case .blob, .data, .string: try hold(value.bytes == bytes, "\(key): other bytes are kept")
        case .number, .boolean, .date, .protection: try hold(isASCII, "\(key): what is not ASCII was understood")
        case .internetProtocol, .authenticationType:
            try hold(isASCII || value.bytes == bytes, "\(key): what is not ASCII was understood")
        }
        if case .date(let date) = value {
            try hold((0..<1_000_000_000).contains(date.nanoseconds), "\(key): \(date.nanoseconds) nanoseconds")
        }
    }
}
