import Keychain

extension KeychainDate {
    static let sample = KeychainDate(seconds: 1_700_000_000, nanoseconds: 123_456_789)
}

extension PosixAttributes {
    static let sample = PosixAttributes(
        inode: 77, permissions: 0o600, userID: 1000, groupID: 1001, modificationTime: .sample,
        accessTime: KeychainDate(seconds: -5, nanoseconds: 1))
}

extension Item {
    /// An item of version 1 with nothing set.
    static func sample(
        _ protection: ProtectionClass = .whenUnlocked, id: Int64 = 10, directory: Int64 = 2, account: String = "alice"
    ) -> Item {
        var item = Item(
            id: RowID(rawValue: id), directory: RowID(rawValue: directory), protection: protection,
            account: .string(account), creationDate: .sample,
            persistentReference: [UInt8](repeating: UInt8(truncatingIfNeeded: id), count: 16), file: .sample)
        item.version = 1
        item.secretVersion = 1
        return item
    }

    /// An item with all attributes.
    static var full: Item {
        var item = sample(account: "bob/ü")
        item.attributes = [
            .label: .string("a label"), .comment: .data([0, 255]), .creator: .number(-1), .isInvisible: .number(1),
            .generic: .data([]),
        ]
        item.extraAttributes = [[0x31]: [1], Array("xdg.origin".utf8): Array("somewhere".utf8), [0x78]: []]
        item.modificationDate = KeychainDate(seconds: 1_800_000_000)
        item.secretCount = 12345
        item.version = 9
        item.secretVersion = 9
        return item
    }
}

extension Directory {
    static func sample(_ key: Key, id: Int64 = 2, parent: Int64 = 1) -> Directory {
        var directory = Directory(
            id: RowID(rawValue: id), parent: RowID(rawValue: parent), key: key, creationDate: .sample,
            file: .sample)
        directory.version = 1
        directory.changeDate = KeychainDate(seconds: 1_800_000_000, nanoseconds: 999_999_999)
        directory.defaultProtection = .afterFirstUnlock
        return directory
    }

    static let web: Directory = {
        var service = InternetService(server: .string("example.com"))
        service.protocol = .string("htps")
        service.port = 8443
        service.path = .data([0xFF])
        service.authenticationType = .string("dflt")
        return sample(.service(.internet(service)))
    }()

    static let mail = sample(.service(.generic(service: .string("mail"))))
    static let container = sample(
        .container(ContainerScope(.internetPassword, isSynchronizable: true)), id: 1, parent: 0)
    static let group = sample(.group(Array("team.shared".utf8)), id: 1, parent: 0)
}
