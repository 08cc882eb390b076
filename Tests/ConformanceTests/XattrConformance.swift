import FileSystemCore
import FileSystemTesting
import SystemPackage
import Testing

/// setxattr(2), getxattr(2), listxattr(2), removexattr(2).
@Suite struct XattrConformance {
    private let path = Fixture.directory + "/a"

    /// Names, and the error of setting them; nil for those that are kept.
    private static let names: [(name: String, error: Errno?)] = [
        ("user.x", nil), ("user." + String(repeating: "n", count: 250), nil), ("user.é", nil), ("user.a b", nil),
        ("user.x.y", nil), ("user..", nil), ("user.", .invalidArgument), ("user.kSecNothing", .operationNotSupported),
        ("trusted.x", .operationNotSupported), ("security.x", .operationNotSupported),
        ("foo.bar", .operationNotSupported), ("user", .operationNotSupported), ("x", .operationNotSupported),
    ]

    @Test("X4: XATTR_CREATE and XATTR_REPLACE, of every kind of name and value", arguments: BackEnd.available)
    func flags(_ backEnd: BackEnd) throws {
        let values: [[UInt8]] = [[], [0x76], [0, 0xFF, 0], [UInt8](repeating: 0x6C, count: 4000)]
        try backEnd.run { client, _ in
            try client.put(path, "x")
            for (name, error) in Self.names {
                for value in values {
                    for flags in [XattrFlags](arrayLiteral: [], .create, .replace) {
                        for isThere in [false, true] {
                            try check(client, name, error, value, flags, isThere)
                        }
                    }
                }
            }
            #expect(try client.listxattr(path).isEmpty)
        }
    }

    private func check(
        _ client: any FileClient, _ name: String, _ error: Errno?, _ value: [UInt8], _ flags: XattrFlags,
        _ isThere: Bool
    ) throws {
        let comment = Comment(rawValue: "\(name.prefix(20)), \(value.count) bytes, \(flags), there: \(isThere)")
        if error == nil, isThere { try client.setxattr(path, name, "old") }
        let wanted: Errno? =
            error ?? (flags == .create && isThere ? .fileExists : flags == .replace && !isThere ? .noAttribute : nil)
        let got = client.errno { client throws(Errno) in try client.setxattr(path, name, value, flags) }
        #expect(got == wanted, comment)
        let isSet = error == nil && (isThere || wanted == nil)
        #expect(try client.listxattr(path) == (isSet ? [name] : []), comment)
        guard isSet else { return }
        #expect(try client.getxattr(path, name) == (wanted == nil ? value : Array("old".utf8)), comment)
        try client.removexattr(path, name)
        let missing = client.errno { client throws(Errno) in _ = try client.getxattr(path, name) }
        let again = client.errno { client throws(Errno) in try client.removexattr(path, name) }
        #expect(missing == .noAttribute && again == .noAttribute, comment)
    }

    @Test("F9: 64 KiB of names and values together, and not a byte more", arguments: BackEnd.available)
    func capacity(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            try client.put(path, "x")
            let name = "user.x"
            // As listxattr(2) has it: the name and its NUL count too.
            let longest = 65_536 - name.utf8.count - 1
            let value = [UInt8](repeating: 0x6C, count: longest)
            try client.setxattr(path, name, value, [])
            #expect(try client.getxattr(path, name) == value)
            for other in [(name, value + [0]), ("user.y", [])] {
                let got = client.errno { client throws(Errno) in try client.setxattr(path, other.0, other.1, []) }
                #expect(got == .listTooLong)
            }
            #expect(try client.getxattr(path, name) == value && client.listxattr(path) == [name])
        }
    }

    @Test("X4: hundreds of attributes are listed, and stay when the file is written", arguments: BackEnd.available)
    func many(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            try client.put(path, "x")
            let names = (0..<200).map { "user.name\($0)" }
            for name in names { try client.setxattr(path, name, name) }
            try client.put(path, "y")
            try client.rename(path, path + "2")
            #expect(Set(try client.listxattr(path + "2")) == Set(names))
            for name in names { #expect(try client.getxattr(path + "2", name) == Array(name.utf8)) }
        }
    }
}
