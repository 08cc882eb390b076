import FileSystemCore
import Keychain
import Synchronization
import SystemPackage

/// `user.kSecAttrAccessible` of a class directory: the default class of new service directories in it. Of the mount's
/// root: of those of all item classes in every group.
extension KeychainFileSystem {
    /// Returns an attribute of a scope directory.
    ///
    /// - Throws: ENODATA if it does not have it, and for the root if the item classes have different defaults.
    func xattr(_ name: [UInt8], of folder: ScopeDirectory) throws(Errno) -> [UInt8] {
        guard Self.isDefaultClass(name), let protection = try defaultProtection(of: folder) else {
            throw .noAttribute
        }
        return Array(protection.suffix.utf8)
    }

    /// Returns the attributes: the default class, unless it is the initial one. Empty before the first unlock, when it
    /// is unknown, so that root and class directories remain readable (L1).
    func xattrs(of folder: ScopeDirectory) throws(Errno) -> [[UInt8]] {
        guard keychain.keys.state.isAfterFirstUnlock else { return [] }
        let isSet = try defaultProtection(of: folder) ?? .whenUnlocked != .whenUnlocked
        return isSet ? [XattrName.name(of: .accessible)] : []
    }

    /// Sets the default class.
    ///
    /// - Throws: EOPNOTSUPP for other attributes; ENOKEY while locked, as for service directories.
    func setxattr(
        of folder: ScopeDirectory, _ name: [UInt8], to bytes: [UInt8], _ flags: XattrFlags, by caller: Caller
    ) throws(Errno) {
        guard folder.hasDefaultClass, Self.isDefaultClass(name) else { throw .operationNotSupported }
        if flags.contains(.create) { throw .fileExists }
        try setDefault(try AttributeTextCodec.protection(bytes), of: folder, by: caller)
    }

    /// Resets the default class.
    ///
    /// - Throws: ENODATA if none was set.
    func removexattr(of folder: ScopeDirectory, _ name: [UInt8], by caller: Caller) throws(Errno) {
        guard Self.isDefaultClass(name), folder.hasDefaultClass else { throw .noAttribute }
        guard try defaultProtection(of: folder) != .whenUnlocked else { throw .noAttribute }
        try setDefault(.whenUnlocked, of: folder, by: caller)
    }

    private static func isDefaultClass(_ name: [UInt8]) -> Bool { name == XattrName.name(of: .accessible) }

    /// Returns the default class; nil for a scope directory without one.
    private func defaultProtection(of folder: ScopeDirectory) throws(Errno) -> ProtectionClass? {
        switch folder {
        case .classDirectory(let classDirectory):
            try mapped { () throws(KeychainFault) in try keychain.defaultProtection(of: classDirectory.key) }
        case .scope where folder.isRoot:
            try mapped { () throws(KeychainFault) in try keychain.defaultProtection() }
        case .scope, .groups: nil
        }
    }

    private func setDefault(_ protection: ProtectionClass, of folder: ScopeDirectory, by caller: Caller) throws(Errno) {
        try checkWritable()
        try checkUnlocked()
        try checkOwner(caller)
        try checkFreeSpace(for: 0)
        let posixAttributes = containerAttributes
        try names.withLock { (_) throws(Errno) in
            try mapped { () throws(KeychainFault) in
                try keychain.change { (transaction) throws(KeychainFault) in
                    guard case .classDirectory(let classDirectory) = folder else {
                        return try transaction.setDefault(protection, file: posixAttributes)
                    }
                    _ = try container(of: classDirectory, transaction)
                    try transaction.setDefault(protection, of: classDirectory.key, file: posixAttributes)
                }
            }
        }
    }
}

extension ScopeDirectory {
    fileprivate var hasDefaultClass: Bool {
        if case .classDirectory = self { true } else { isRoot }
    }
}
