import FileSystemCore
import Keychain
import SystemPackage

/// A service directory's attributes as extended attributes (X5): the attributes in its name, and the default class of new items.
struct DirectoryXattrs {
    let service: ServiceKey
    let container: ContainerKey
    let defaultProtection: ProtectionClass
    /// The default class of a new directory with the same parent.
    let inheritedProtection: ProtectionClass

    private var itemClass: ItemClass { container.itemClass }

    /// Returns the default class, unless it and that of a new directory are WhenUnlocked, so that a copy gets it, too.
    func list() -> [[UInt8]] { isListed ? [XattrName.name(of: .accessible)] : [] }

    private var isListed: Bool { defaultProtection != .whenUnlocked || inheritedProtection != .whenUnlocked }

    /// Returns an attribute.
    ///
    /// - Throws: ENODATA if the name does not contain it.
    func get(_ name: [UInt8]) throws(Errno) -> [UInt8] {
        switch XattrName(name, in: itemClass) {
        case .unsupported: throw .operationNotSupported
        case .foreign, .extra: throw .noAttribute
        case .itemClass: return Array(itemClass.suffix.utf8)
        case .attribute(.accessible): return Array(defaultProtection.suffix.utf8)
        case .attribute(let key):
            guard let value = value(of: key) else { throw .noAttribute }
            return AttributeTextCodec.encode(value, for: key)
        }
    }

    /// Returns the default class to be set; nil for a value that the name contains already.
    ///
    /// - Throws: EPERM for another value of an attribute in the name, which a rename changes; EOPNOTSUPP for other
    ///   attributes, including other `user.` names.
    func set(_ name: [UInt8], to bytes: [UInt8], flags: XattrFlags) throws(Errno) -> ProtectionClass? {
        switch XattrName(name, in: itemClass) {
        case .unsupported, .foreign, .extra: throw .operationNotSupported
        case .itemClass: throw .notPermitted
        case .attribute(.accessible):
            if flags.contains(.create) { throw .fileExists }
            return try AttributeTextCodec.protection(bytes)
        case .attribute(let key):
            guard let current = value(of: key) else { throw .operationNotSupported }
            guard AttributeTextCodec.decode(bytes, for: key, current: current) == current else { throw .notPermitted }
            return nil
        }
    }

    /// Returns the default class after the removal of an attribute: the class of a new directory.
    ///
    /// - Throws: ENODATA if it is not set.
    func remove(_ name: [UInt8]) throws(Errno) -> ProtectionClass {
        switch XattrName(name, in: itemClass) {
        case .unsupported: throw .operationNotSupported
        case .attribute(.accessible) where isListed: return inheritedProtection
        case .attribute(let key) where key.definition.role == .primaryKey && value(of: key) != nil:
            throw .notPermitted
        case .foreign, .extra, .itemClass, .attribute: throw .noAttribute
        }
    }

    private func value(of key: AttributeKey) -> AttributeValue? {
        service[key] ?? container[key]
    }
}

extension AttributeTextCodec {
    /// Returns the protection class that a value names.
    ///
    /// - Throws: EINVAL if it names none.
    static func protection(_ bytes: [UInt8]) throws(Errno) -> ProtectionClass {
        guard let text = String(validating: bytes, as: UTF8.self), let protection = protection(text) else {
            throw .invalidArgument
        }
        return protection
    }
}

extension ContainerKey {
    /// The value of an attribute in the key.
    subscript(key: AttributeKey) -> AttributeValue? {
        switch key {
        case .accessGroup: .text(accessGroup)
        case .synchronizable: .number(isSynchronizable ? 1 : 0)
        default: nil
        }
    }
}
