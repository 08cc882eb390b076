import FileSystemCore
import Keychain
import SystemPackage

/// A service directory's attributes as extended attributes (X5): what its name stands for, and the class of new items.
struct DirectoryXattrs {
    let service: ServiceKey
    let container: ContainerKey
    let defaultProtection: ProtectionClass
    /// What a new directory beside it would have.
    let inheritedProtection: ProtectionClass

    private var itemClass: ItemClass { container.itemClass }

    /// The default class, unless it and that of a new directory are WhenUnlocked: so that a copy has it too.
    func list() -> [[UInt8]] { isListed ? [XattrName.name(of: .accessible)] : [] }

    private var isListed: Bool { defaultProtection != .whenUnlocked || inheritedProtection != .whenUnlocked }

    /// ENODATA for what the name does not stand for.
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

    /// The default class to be set; nil for a value that the name stands for already.
    ///
    /// EPERM for another value of what the name stands for: that is what rename is for. EOPNOTSUPP for all that a
    /// directory cannot have, other `user.` names among it.
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

    /// The default class after the removal of an attribute: that of a new directory. ENODATA for what is not set.
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
    /// The class that an attribute's value names; EINVAL if none.
    static func protection(_ bytes: [UInt8]) throws(Errno) -> ProtectionClass {
        guard let text = String(validating: bytes, as: UTF8.self), let protection = protection(text) else {
            throw .invalidArgument
        }
        return protection
    }
}

extension ContainerKey {
    /// The value of the attribute that it holds.
    subscript(key: AttributeKey) -> AttributeValue? {
        switch key {
        case .accessGroup: .text(accessGroup)
        case .synchronizable: .number(isSynchronizable ? 1 : 0)
        default: nil
        }
    }
}
