import FileSystemCore
import Keychain

/// T2: the names of accounts, services and access groups. The first byte selects the kind and the direction.
extension FuzzTarget {
    static let names = FuzzTarget(
        "names", limit: 1024, words: ["%", "%2F", "%~", "%2E%2E", "..", "default", "0123456789ABCDEF"],
        examples: { nameExamples }
    ) { input in
        var reader = InputReader(input)
        let kind = reader.byte()
        let bytes = reader.remaining()
        switch kind % 4 {
        case 0: try spell(account: bytes)
        case 1: try spell(group: bytes)
        default: try type(CanonicalName(typed: bytes))
        }
    }

    private static let nameExamples: [[UInt8]] = {
        let long = String(repeating: "ü", count: 130)
        let values = ["", ".", "..", "alice", "a/b", "100%", "\u{7F}\n", "日本", long, String(repeating: "/", count: 90)]
        let accounts = values.map { CanonicalName(account: .string($0)).bytes }
        return values.flatMap { [[0] + Array($0.utf8), [1] + Array($0.utf8)] } + accounts.map { [2] + $0 }
    }()

    /// Checks that every account has one name, which represents the account.
    private static func spell(account bytes: [UInt8]) throws {
        let name = CanonicalName(account: .blob(bytes))
        try check(form: name)
        let found = try name.account()
        try hold(found == (name.isCut ? .cut : .key(.blob(bytes))), "an account is not what its name stands for")
        let service = ServiceKey.generic(service: .blob(bytes))
        let folder = CanonicalName(service: service)
        try check(form: folder)
        try hold(name.bytes.count > 254 || folder == name, "a service is spelled otherwise than an account")
        let parsed = try folder.service(in: .genericPassword)
        try hold(parsed == (folder.isCut ? .cut : .key(service)), "a service is not what its name stands for")
    }

    private static func spell(group bytes: [UInt8]) throws {
        guard AttributeValue.isValidUTF8(bytes), bytes != ContainerKey.defaultAccessGroup else { return }
        let name = CanonicalName(accessGroup: bytes)
        try check(form: name)
        let found = try name.accessGroup()
        try hold(found == (name.isCut ? .cut : .key(bytes)), "a group is not what its name stands for")
    }

    /// Checks that a name is refused, or is the only spelling of the value that it represents.
    private static func type(_ name: CanonicalName) throws {
        if case .key(let account)? = try? name.account() {
            try hold(CanonicalName(account: account) == name, "a second spelling of an account")
            try check(form: name)
        }
        if case .key(let group)? = try? name.accessGroup() {
            try hold(CanonicalName(accessGroup: group) == name, "a second spelling of a group")
        }
        for itemClass in [ItemClass.genericPassword, .internetPassword] {
            guard case .key(let service)? = try? name.service(in: itemClass) else { continue }
            try hold(CanonicalName(service: service) == name, "a second spelling of a service")
            try hold(service == service.normalized, "a service that is not the one form of its key")
        }
    }

    /// Checks that the kernel and all tools accept it as one name.
    static func check(form name: CanonicalName) throws {
        try hold((1...CanonicalName.maximumLength).contains(name.bytes.count), "a name of \(name.bytes.count) bytes")
        try hold(AttributeValue.isValidUTF8(name.bytes), "a name that is not UTF-8")
        try hold(EntryName(name.bytes) != nil, "a name that is none")
        try hold(name.bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a control character in a name")
        try hold(name.bytes != [0x2E] && name.bytes != [0x2E, 0x2E], "a name that is a way")
    }
}
