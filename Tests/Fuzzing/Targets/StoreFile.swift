import Keychain

/// S4, S6: a whole store file with pieces of it changed, opened with its keys. An input is a list of changes: the page, the place
/// in it, how many bytes, the bytes.
///
/// A read returns the value in the original file, or fails.
extension FuzzTarget {
    static let storeFile = FuzzTarget("store-file", limit: 256, cases: 30, examples: { fileExamples }) { input in
        let fixture = try StoreFixture.loaded.get()
        let bytes = changed(fixture.bytes, input)
        try fixture.withCopy(bytes) { path in
            guard let opened = try? fixture.open(path) else {
                return try hold(bytes != fixture.bytes, "a file that nobody has changed does not open")
            }
            defer { opened.close() }
            let found = try fixture.differences(opened)
            try hold(bytes != fixture.bytes || found == 0, "items that nobody has changed cannot be read")
            let report = try? opened.check()
            try hold(bytes != fixture.bytes || report?.isConsistent == true, "a fault out of nothing")
        }
    }

    private static func changed(_ file: [UInt8], _ input: [UInt8]) -> [UInt8] {
        var bytes = file
        var reader = InputReader(input)
        while !reader.isAtEnd {
            let page = Int(reader.byte()) % max(1, bytes.count / StoreFixture.pageSize)
            let place = (Int(reader.byte()) | Int(reader.byte()) << 8) % StoreFixture.pageSize
            let start = page * StoreFixture.pageSize + place
            for (offset, byte) in reader.bytes(Int(reader.byte()) % 32).enumerated() where start + offset < bytes.count
            {
                bytes[start + offset] = byte
            }
        }
        return bytes
    }

    private static let fileExamples: [[UInt8]] =
        [[]] + (0..<UInt8(24)).map { [$0, $0 &* 37, $0 % 16, 4, 0, 1, $0, 255] }
}
