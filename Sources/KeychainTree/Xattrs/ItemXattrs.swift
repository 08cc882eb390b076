import FileSystemCore
import Keychain
import SystemPackage

/// An item's attributes as extended attributes: functions of the item and its path without side effects.
struct ItemXattrs {
    let item: Item
    /// The directory of the item.
    let service: ServiceKey
    let container: ContainerKey
    let defaultProtection: ProtectionClass

    private var itemClass: ItemClass { container.itemClass }

    // MARK: Reading

    /// Returns the attributes that were set and are not part of the path (X1).
    func list() -> [[UInt8]] {
        var names: [[UInt8]] = []
        if CanonicalName(account: item.account).isCut { names.append(XattrName.name(of: .account)) }
        if CanonicalName(service: service).isCut {
            names += AttributeKey.allCases.filter { service[$0] != nil }.map(XattrName.name(of:))
        }
        if CanonicalName(accessGroup: container.accessGroup).isCut { names.append(XattrName.name(of: .accessGroup)) }
        if item.protection != .whenUnlocked || defaultProtection != .whenUnlocked {
            names.append(XattrName.name(of: .accessible))
        }
        // An access control cannot be set here, so copying all listed attributes would fail.
        let own = AttributeKey.allCases.filter { item.attributes[$0] != nil && $0.definition.role == .caller }
        names += own.map(XattrName.name(of:))
        let extras = item.extraAttributes.keys.sorted { $0.lexicographicallyPrecedes($1) }
        return names + extras.map(XattrName.name(ofExtra:))
    }

    /// Returns an attribute.
    ///
    /// - Throws: ENODATA if it is not set; EOPNOTSUPP outside of `user.`.
    func get(_ name: [UInt8]) throws(Errno) -> [UInt8] {
        switch XattrName(name, in: itemClass) {
        case .unsupported: throw .operationNotSupported
        case .foreign: throw .noAttribute
        case .itemClass: return Array(itemClass.suffix.utf8)
        case .extra(let rest):
            guard let value = item.extraAttributes[rest] else { throw .noAttribute }
            return value
        case .attribute(.accessible): return Array(item.protection.suffix.utf8)
        case .attribute(let key):
            guard let value = value(of: key) else { throw .noAttribute }
            return AttributeTextCodec.encode(value, for: key)
        }
    }

    /// Returns the value of an attribute; nil if it is not set.
    func value(of key: AttributeKey) -> AttributeValue? {
        switch key {
        case .account: item.account
        case .accessGroup, .synchronizable: container[key]
        case .accessible: .string(item.protection.code)
        case .creationDate: .date(item.creationDate)
        case .modificationDate: .date(item.modificationDate)
        case .persistentReference: .data(item.persistentReference)
        default: service[key] ?? item.attributes[key]
        }
    }

    // MARK: Changing

    /// The effect of setting an attribute.
    enum Edit {
        /// The item with the attribute set.
        case item(Item)
        /// None: the name contains this value already.
        case nothing
        /// The item gets another primary key.
        case move(ItemPrimaryKey)
    }

    /// Sets an attribute.
    ///
    /// - Throws: EPERM for an attribute that the system maintains; EOPNOTSUPP for an attribute that the class does not have;
    ///   EINVAL for an invalid value (X3, X4).
    func set(_ name: [UInt8], to bytes: [UInt8], flags: XattrFlags) throws(Errno) -> Edit {
        switch XattrName(name, in: itemClass) {
        case .unsupported, .foreign: throw .operationNotSupported
        case .itemClass: throw .notPermitted
        case .extra(let rest):
            try check(flags, exists: item.extraAttributes[rest] != nil)
            var edited = item
            edited.extraAttributes[rest] = bytes
            return .item(try withinLimit(edited))
        case .attribute(let key): return try set(key, to: bytes, flags: flags)
        }
    }

    /// Removes an attribute.
    ///
    /// - Throws: ENODATA if it is not set or the system maintains it.
    func remove(_ name: [UInt8]) throws(Errno) -> Item {
        var edited = item
        switch XattrName(name, in: itemClass) {
        case .unsupported: throw .operationNotSupported
        case .foreign, .itemClass: throw .noAttribute
        case .extra(let rest):
            guard edited.extraAttributes.removeValue(forKey: rest) != nil else { throw .noAttribute }
        case .attribute(.accessible):
            guard item.protection != .whenUnlocked || defaultProtection != .whenUnlocked else { throw .noAttribute }
            edited.protection = defaultProtection
        case .attribute(let key) where key.definition.role == .primaryKey:
            throw value(of: key) == nil ? .noAttribute : .notPermitted
        case .attribute(let key):
            guard edited.attributes.removeValue(forKey: key) != nil else { throw .noAttribute }
        }
        return edited
    }

    private func set(_ key: AttributeKey, to bytes: [UInt8], flags: XattrFlags) throws(Errno) -> Edit {
        let current = value(of: key)
        if key.definition.role == .refused { throw .invalidArgument }
        if key.definition.role == .system && key != .creationDate { throw .notPermitted }
        try check(flags, exists: current != nil)
        guard let value = AttributeTextCodec.decode(bytes, for: key, current: current) else { throw .invalidArgument }
        var edited = item
        switch (key, value) {
        case (.creationDate, .date(let date)): edited.creationDate = date
        case (.accessible, .text(let code)):
            let text = String(decoding: code, as: UTF8.self)
            guard let protection = AttributeTextCodec.protection(text) else { throw .invalidArgument }
            guard protection != item.protection else { return .nothing }
            edited.protection = protection
        case (_, _) where key.definition.role == .primaryKey: return try move(key, to: value)
        default: edited.attributes[key] = value
        }
        return .item(try withinLimit(edited))
    }

    /// Requires that names, with their namespace and NUL as in listxattr, and values have at most 64 KiB together (F9).
    private func withinLimit(_ edited: Item) throws(Errno) -> Item {
        let known = edited.attributes.map { key, value in
            XattrName.name(of: key).count + 1 + AttributeTextCodec.encode(value, for: key).count
        }
        let extra = edited.extraAttributes.map { name, value in XattrName.name(ofExtra: name).count + 1 + value.count }
        guard known.reduce(0, +) + extra.reduce(0, +) <= 65_536 else { throw .listTooLong }
        return edited
    }

    /// Sets a primary-key attribute: no effect if the name contains the value, otherwise another primary key.
    private func move(_ key: AttributeKey, to value: AttributeValue) throws(Errno) -> Edit {
        if key == .account {
            let same = CanonicalName(account: value) == CanonicalName(account: item.account)
            return same ? .nothing : .move(primaryKey(account: value))
        }
        if key == .accessGroup || key == .synchronizable {
            let moved = container.setting(key, to: value)
            return moved == container ? .nothing : .move(primaryKey(container: moved))
        }
        let moved = service.setting(key, to: value)
        let same = CanonicalName(service: moved) == CanonicalName(service: service)
        return same ? .nothing : .move(primaryKey(service: moved))
    }

    /// Returns the primary key with the given changes.
    private func primaryKey(
        account: AttributeValue? = nil, service: ServiceKey? = nil, container: ContainerKey? = nil
    ) -> ItemPrimaryKey {
        ItemPrimaryKey(
            account: account ?? item.account, service: service ?? self.service,
            container: container ?? self.container)
    }

    private func check(_ flags: XattrFlags, exists: Bool) throws(Errno) {
        if flags.contains(.create) && exists { throw .fileExists }
        if flags.contains(.replace) && !exists { throw .noAttribute }
    }
}

extension ContainerKey {
    /// Returns the key with access group or synchronizable changed.
    fileprivate func setting(_ key: AttributeKey, to value: AttributeValue) -> ContainerKey {
        var container = self
        switch (key, value) {
        case (.accessGroup, .text(let group)): container.accessGroup = group
        case (.synchronizable, .number(let flag)): container.isSynchronizable = flag != 0
        default: break
        }
        return container
    }
}
