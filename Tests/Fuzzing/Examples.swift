import Keychain

extension KeychainDate {
    static let example = KeychainDate(seconds: 1_700_000_000, nanoseconds: 123_456_789)
}

extension PosixAttributes {
    static let example = PosixAttributes(
        inode: 77, permissions: 0o600, userID: 1000, groupID: 1001, modificationTime: .example, accessTime: .example)
}

extension Item {
    /// An item without any attribute set.
    static let plain: Item = {
        var item = Item(
            id: RowID(rawValue: 1), directory: RowID(rawValue: 2), protection: .whenUnlocked, account: .string("alice"),
            creationDate: .example, persistentReference: [UInt8](repeating: 7, count: 16), file: .example)
        item.version = 1 << 40
        return item
    }()

    /// An item with every attribute set.
    static let full: Item = {
        var item = plain
        item.attributes = [
            .label: .string("a label"), .comment: .data([0, 255]), .creator: .number(-1), .isInvisible: .number(1),
            .generic: .data([]), .accessControl: .number(1),
        ]
        item.extraAttributes = [[0x31]: [1], Array("xdg.origin".utf8): Array("somewhere".utf8), [0x78]: []]
        item.secretCount = 12345
        item.secretVersion = 9
        return item
    }()
}

extension InternetService {
    static let full: InternetService = {
        var service = InternetService(server: .string("example.com"))
        service.protocol = .string("htps")
        service.port = 8443
        service.path = .data([0xFF])
        service.securityDomain = .string("realm")
        service.authenticationType = .string("dflt")
        return service
    }()
}
