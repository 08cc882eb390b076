import Keychain
import KeychainRPC
import KeychainTree

/// An item found by a search: its path in the mount, and its attributes, without its secret.
package struct FoundItem: JSONText, Hashable, Sendable {
    /// The absolute path.
    package let path: String
    /// `GenericPassword` or `InternetPassword`.
    package let itemClass: String
    /// The attributes by the constants' names.
    package let attributes: [String: AttributeJSON]

    private enum CodingKeys: String, CodingKey {
        case path, attributes
        case itemClass = "class"
    }

    init(path: String, itemClass: String, attributes: [String: AttributeJSON]) {
        self.path = path
        self.itemClass = itemClass
        self.attributes = attributes
    }

    /// Creates an item from a dictionary of a result; nil for another value.
    init?(_ entry: PropertyList, _ itemClass: ItemClass, mountPoint: String) {
        guard case .dictionary(let entries) = entry else { return nil }
        var values: [AttributeKey: AttributeValue] = [:]
        for key in AttributeKey.allCases {
            values[key] = entries[key.definition.code].flatMap(\.attributeValue)
        }
        guard let primaryKey = ItemPrimaryKey(values, itemClass) else { return nil }
        path = (mountPoint == "/" ? "" : mountPoint) + "/" + primaryKey.path
        self.itemClass = itemClass.suffix
        attributes = Dictionary(
            uniqueKeysWithValues: values.filter { !primaryKey.isDefault($0.key) }.map { key, value in
                (key.definition.name, AttributeJSON(Self.bytes(value, of: key), of: key))
            })
    }

    /// Returns a value as in the extended attribute (contract, X2).
    private static func bytes(_ value: AttributeValue, of key: AttributeKey) -> [UInt8] {
        let protection = key == .accessible ? ProtectionClass.allCases.first { .string($0.code) == value } : nil
        return protection.map { Array($0.suffix.utf8) } ?? AttributeTextCodec.encode(value, for: key)
    }
}

extension ItemPrimaryKey {
    /// Creates the primary key of an item's attributes.
    fileprivate init?(_ values: [AttributeKey: AttributeValue], _ itemClass: ItemClass) {
        guard let account = values[.account], let group = values[.accessGroup]?.bytes else { return nil }
        var service = ServiceKey.empty(itemClass)
        for (key, value) in values where key.isPartOfService && key.definition.classes.contains(itemClass) {
            service = service.setting(key, to: value)
        }
        let container = ContainerKey(
            itemClass: itemClass, accessGroup: group, isSynchronizable: values[.synchronizable] == .number(1))
        self.init(account: account, service: service.normalized, container: container)
    }

    /// The path below the root of the mount (contract, T1 to T3).
    fileprivate var path: String {
        let group = container.accessGroup
        let isDefault = group == ContainerKey.defaultAccessGroup
        var parts = isDefault ? [] : [FixedName.accessGroups, text(CanonicalName(accessGroup: group))]
        if container.isSynchronizable { parts.append(FixedName.synchronizable) }
        parts += [container.itemClass.folderName, text(CanonicalName(service: service))]
        return (parts + [text(CanonicalName(account: account))]).joined(separator: "/")
    }

    /// Whether a primary-key attribute has the value that represents "not set".
    fileprivate func isDefault(_ key: AttributeKey) -> Bool {
        key.isPartOfService && key != .service && key != .server && service[key] == nil
    }

    /// Returns a canonical name, which is UTF-8, as text.
    private func text(_ name: CanonicalName) -> String { String(decoding: name.bytes, as: UTF8.self) }
}

extension AttributeKey {
    /// Whether the attribute is part of a directory's name.
    fileprivate var isPartOfService: Bool {
        definition.role == .primaryKey && ![.account, .accessGroup, .synchronizable].contains(self)
    }
}
