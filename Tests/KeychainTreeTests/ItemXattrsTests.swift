import FileSystemCore
import Keychain
import SystemPackage
import Testing

@testable import KeychainTree

@Suite struct ItemXattrsTests {
    private func xattrs(_ edit: (inout Item) -> Void = { _ in }) -> ItemXattrs {
        let date = KeychainDate(seconds: 1000)
        let file = PosixAttributes(
            inode: 7, permissions: 0o600, userID: 1, groupID: 1, modificationTime: date, accessTime: date)
        var item = Item(
            id: RowID(rawValue: 100), directory: RowID(rawValue: 101), protection: .whenUnlocked,
            account: .string("alice"), creationDate: date, persistentReference: Array(0..<16), file: file)
        edit(&item)
        return ItemXattrs(
            item: item, service: .generic(service: .string("wifi")),
            container: ContainerKey(itemClass: .genericPassword), defaultProtection: .whenUnlocked)
    }

    private func name(_ text: String) -> [UInt8] { Array(("user." + text).utf8) }

    private func get(_ xattrs: ItemXattrs, _ text: String) throws(Errno) -> String {
        String(decoding: try xattrs.get(name(text)), as: UTF8.self)
    }

    @Test("X1: every attribute is readable under its constant's name")
    func readable() throws {
        let xattrs = xattrs { $0.attributes[.label] = .string("Home Wi-Fi") }
        #expect(try get(xattrs, "kSecAttrLabel") == "Home Wi-Fi")
        #expect(try get(xattrs, "kSecAttrAccount") == "alice")
        #expect(try get(xattrs, "kSecAttrService") == "wifi")
        #expect(try get(xattrs, "kSecAttrAccessible") == "WhenUnlocked")
        #expect(try get(xattrs, "kSecAttrAccessGroup") == "default")
        #expect(try get(xattrs, "kSecAttrSynchronizable") == "0")
        #expect(try get(xattrs, "kSecAttrCreationDate") == "1970-01-01T00:16:40Z")
        #expect(try get(xattrs, "kSecClass") == "GenericPassword")
        #expect(try xattrs.get(name("kSecAttrPersistentReference")) == Array(0..<16))
    }

    @Test("X1: the list contains the attributes that were set and are not part of the path")
    func listed() {
        #expect(xattrs().list().isEmpty)
        let set = xattrs {
            $0.attributes = [.label: .string("x"), .comment: .string("y")]
            $0.extraAttributes[Array("color".utf8)] = [1]
            $0.protection = .afterFirstUnlock
        }
        #expect(
            set.list() == [
                name("kSecAttrAccessible"), name("kSecAttrLabel"), name("kSecAttrComment"), name("color"),
            ])
        let cut = xattrs { $0.account = .string(String(repeating: "a", count: 300)) }
        #expect(cut.list() == [name("kSecAttrAccount")])
    }

    @Test("X1: a service with a cut name is listed, one with a complete name is not")
    func cutService() throws {
        let long = String(repeating: "s", count: 300)
        var service = InternetService(server: .string(long))
        service.port = 8443
        let item = xattrs().item
        func listed(_ service: ServiceKey, _ itemClass: ItemClass) -> [[UInt8]] {
            ItemXattrs(
                item: item, service: service, container: ContainerKey(itemClass: itemClass),
                defaultProtection: .whenUnlocked
            ).list()
        }
        #expect(listed(.generic(service: .string(long)), .genericPassword) == [name("kSecAttrService")])
        #expect(Set(listed(.internet(service), .internetPassword)) == [name("kSecAttrServer"), name("kSecAttrPort")])
        service.server = .string("example.com")
        #expect(listed(.internet(service), .internetPassword).isEmpty)
    }

    @Test("X4: names of Keychain Services are not free for others: a secret in kSecValueData would be no secret")
    func reserved() {
        for text in ["kSecValueData", "kSecReturnData", "kSecAttrBogus", "kSec"] {
            #expect(throws: Errno.operationNotSupported) { try xattrs().set(name(text), to: [1], flags: []) }
            #expect(throws: Errno.noAttribute) { try xattrs().get(name(text)) }
        }
    }

    @Test("X1: an access control, which cannot be set here, is readable and not listed")
    func accessControl() throws {
        let xattrs = xattrs { $0.attributes[.accessControl] = .number(1) }
        #expect(xattrs.list().isEmpty)
        #expect(try get(xattrs, "kSecAttrAccessControl") == "1")
        #expect(throws: Errno.notPermitted) { try xattrs.set(name("kSecAttrAccessControl"), to: [0x31], flags: []) }
    }

    @Test("X3: removing a primary-key attribute: ENODATA if it is not set, EPERM if it is")
    func removingPrimaryKey() {
        let internet = ItemXattrs(
            item: xattrs().item, service: .internet(InternetService(server: .string("example.com"))),
            container: ContainerKey(itemClass: .internetPassword), defaultProtection: .whenUnlocked)
        for key in ["kSecAttrPort", "kSecAttrPath", "kSecAttrProtocol"] {
            #expect(throws: Errno.noAttribute) { try internet.remove(name(key)) }
        }
        for key in ["kSecAttrServer", "kSecAttrAccount"] {
            #expect(throws: Errno.notPermitted) { try internet.remove(name(key)) }
        }
    }

    @Test("F9: names count too in the 64 KiB that an item's xattrs may have together")
    func limitCountsNames() throws {
        let count = 65_536 - (name("big").count + 1)
        let value = [UInt8](repeating: 1, count: count)
        guard case .item = try xattrs().set(name("big"), to: value, flags: []) else { Issue.record("refused"); return }
        #expect(throws: Errno.listTooLong) { try xattrs().set(name("bigg"), to: value, flags: []) }
        // Four hundred empty ones with long names are as large as one value.
        let many = xattrs { item in
            for number in 0..<255 {
                item.extraAttributes[Array("\(1000 + number)".utf8) + [UInt8](repeating: 97, count: 246)] = []
            }
        }
        #expect(throws: Errno.listTooLong) {
            try many.set(name(String(repeating: "b", count: 250)), to: [UInt8](repeating: 1, count: 300), flags: [])
        }
    }

    @Test(
        "X3: errors of setting",
        arguments: [
            ("kSecAttrModificationDate", "x", Errno.notPermitted), ("kSecAttrPersistentReference", "x", .notPermitted),
            ("kSecClass", "genp", .notPermitted), ("kSecAttrServer", "x", .operationNotSupported),
            ("kSecAttrNonsense", "x", .operationNotSupported), ("kSecAttrAccessible", "Never", .invalidArgument),
            ("kSecAttrIsInvisible", "maybe", .invalidArgument), ("kSecAttrCreationDate", "today", .invalidArgument),
            ("kSecAttrScriptCode", "abcd", .invalidArgument), ("kSecAttrPort", "http", .operationNotSupported),
            ("kSecAttrTokenID", "x", .invalidArgument), ("kSecAttrSyncViewHint", "x", .invalidArgument),
            ("kSecAttrMultiUser", "x", .invalidArgument), ("kSecAttrSharingGroup", "x", .invalidArgument),
            ("kSecAttrUUID", "x", .notPermitted), ("kSecAttrSHA1", "x", .notPermitted),
            ("kSecAttrTombstone", "1", .notPermitted), ("kSecAttrSynchronizable", "2", .invalidArgument),
        ])
    func setErrors(text: String, value: String, errno: Errno) {
        #expect(throws: errno) { try xattrs().set(name(text), to: Array(value.utf8), flags: []) }
    }

    @Test("X3: reading and removing an unset attribute fails with ENODATA; so does removing a system attribute")
    func absent() {
        for text in ["kSecAttrLabel", "kSecAttrServer", "kSecAttrNonsense", "color"] {
            #expect(throws: Errno.noAttribute) { try xattrs().get(name(text)) }
            #expect(throws: Errno.noAttribute) { try xattrs().remove(name(text)) }
        }
        #expect(throws: Errno.noAttribute) { try xattrs().remove(name("kSecAttrModificationDate")) }
        #expect(throws: Errno.noAttribute) { try xattrs().remove(name("kSecAttrAccessible")) }
    }

    @Test("X3: setting a primary key attribute to its current value has no effect; another value moves the item")
    func primaryKey() throws {
        guard case .nothing = try xattrs().set(name("kSecAttrAccount"), to: Array("alice".utf8), flags: []) else {
            Issue.record("not a no-op"); return
        }
        guard
            case .move(let place) = try xattrs().set(
                name("kSecAttrService"), to: Array("home".utf8), flags: [])
        else { Issue.record("no move"); return }
        #expect(place.account == .string("alice"))
        #expect(place.service == .generic(service: .string("home")))
    }

    @Test(
        "X3: access group and synchronizable are part of the primary key: setting them has no effect, or moves the item",
        arguments: [
            ("kSecAttrAccessGroup", "default", nil),
            ("kSecAttrAccessGroup", "team", ContainerKey(itemClass: .genericPassword, accessGroup: Array("team".utf8))),
            ("kSecAttrAccessGroup", "", ContainerKey(itemClass: .genericPassword, accessGroup: [])),
            ("kSecAttrSynchronizable", "0", nil),
            ("kSecAttrSynchronizable", "1", ContainerKey(itemClass: .genericPassword, isSynchronizable: true)),
        ] as [(String, String, ContainerKey?)])
    func containers(text: String, value: String, moved: ContainerKey?) throws {
        switch try xattrs().set(name(text), to: Array(value.utf8), flags: []) {
        case .nothing: #expect(moved == nil)
        case .move(let place): #expect(place.container == moved && place.account == .string("alice"))
        case .item: Issue.record("an edit of the item")
        }
    }

    @Test("X3: kSecAttrCreationDate can be set; removing Accessible sets the directory's default")
    func settable() throws {
        guard
            case .item(let dated) = try xattrs().set(
                name("kSecAttrCreationDate"), to: Array("2001-01-01T00:00:00Z".utf8), flags: [])
        else { Issue.record("no edit"); return }
        #expect(dated.creationDate == KeychainDate(seconds: 978_307_200))
        let always = xattrs { $0.protection = .always }
        #expect(try always.remove(name("kSecAttrAccessible")).protection == .whenUnlocked)
    }

    @Test("X4: other user names are kept; outside user. nothing exists; CREATE and REPLACE work")
    func others() throws {
        guard case .item(let item) = try xattrs().set(name("color"), to: [0, 255], flags: [.create]) else {
            Issue.record("no edit"); return
        }
        #expect(item.extraAttributes == [Array("color".utf8): [0, 255]])
        let set = xattrs { $0.extraAttributes[Array("color".utf8)] = [1] }
        #expect(throws: Errno.fileExists) { try set.set(name("color"), to: [2], flags: [.create]) }
        #expect(throws: Errno.noAttribute) { try xattrs().set(name("color"), to: [2], flags: [.replace]) }
        for other in ["security.capability", "trusted.x", "system.posix_acl_access", "user."] {
            #expect(throws: Errno.operationNotSupported) { try set.get(Array(other.utf8)) }
            #expect(throws: Errno.operationNotSupported) { try set.set(Array(other.utf8), to: [], flags: []) }
        }
    }
}
