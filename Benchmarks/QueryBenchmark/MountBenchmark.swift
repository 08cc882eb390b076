import Glibc
import Security

/// Measures the API and the files of one mount alternately.
struct MountBenchmark {
    let mountPoint: String
    let names: BenchmarkNames

    /// Look-ups and reads of one round, scans of one round.
    private static let lookups = 500
    private static let scans = 3

    func run(rounds: Int) throws -> [String: Timing] {
        var file = Timing()
        var data = Timing()
        var attributes = Timing()
        var scan = Timing()
        for round in 0...rounds {
            // The first round reads everything for the first time, and is not counted.
            if round == 1 { (file, data, attributes, scan) = (Timing(), Timing(), Timing(), Timing()) }
            for index in 0..<Self.lookups {
                let number = names.scattered(round * Self.lookups + index)
                try file.measure { try read(number) }
                let other = names.scattered(round * Self.lookups + index + names.count / 2)
                try data.measure { try lookup(other, kSecReturnData) }
                try attributes.measure { try lookup(number, kSecReturnAttributes) }
            }
            for index in 0..<Self.scans { try scan.measure { try find(names.count - 1 - index) } }
        }
        return [
            "open+read+close": file, "SecItemCopyMatching data": data, "SecItemCopyMatching attributes": attributes,
            "SecItemCopyMatching label of \(names.count)": scan,
        ]
    }

    private func read(_ number: Int) throws {
        let path = "\(mountPoint)/generic-passwords/\(names.service(number))/\(names.account(number))"
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw BenchmarkError.failed("open", errno) }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        guard count == 32 else { throw BenchmarkError.failed("read", errno) }
    }

    private func lookup(_ number: Int, _ returned: CFString) throws {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: names.service(number),
            kSecAttrAccount as String: names.account(number), returned as String: true,
        ]
        try copy(query)
    }

    private func find(_ number: Int) throws {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrLabel as String: names.label(number),
            kSecReturnData as String: true,
        ]
        try copy(query)
    }

    private func copy(_ query: [String: Any]) throws {
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        guard status == errSecSuccess, result != nil else { throw BenchmarkError.failed("SecItemCopyMatching", status) }
    }
}
