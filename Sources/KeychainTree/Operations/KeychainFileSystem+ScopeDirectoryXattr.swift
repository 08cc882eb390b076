import FileSystemCore
import Keychain
import Synchronization
import SystemPackage

/// `user.kSecAttrAccessible` of a class directory: the default class of the service directories that are made in it. Of
/// the mount's root: of those of all classes, in every group.
extension KeychainFileSystem {
    /// ENODATA for what a folder does not have, and of the root where its classes have different ones.
    func xattr(_ name: [UInt8], of folder: ScopeDirectory) throws(Errno) -> [UInt8] {
        guard Self.isDefaultClass(name), let protection = try defaultProtection(of: folder) else {
            throw .noAttribute
        }
        return Array(protection.suffix.utf8)
    }

    /// The default, unless it is the one that nobody has set. None before the first unlock, when it cannot be told: root and
    /// classes answer all the same (L1).
    func xattrs(of folder: ScopeDirectory) throws(Errno) -> [[UInt8]] {
        guard keychain.keys.state.isAfterFirstUnlock else { return [] }
        let isSet = try defaultProtection(of: folder) ?? .whenUnlocked != .whenUnlocked
        return isSet ? [XattrName.name(of: .accessible)] : []
    }

    /// EOPNOTSUPP for all else; ENOKEY while locked, as of service directories.
    func setxattr(
        of folder: ScopeDirectory, _ name: [UInt8], to bytes: [UInt8], _ flags: XattrFlags, by caller: Caller
    ) throws(Errno) {
        guard folder.hasDefaultClass, Self.isDefaultClass(name) else { throw .operationNotSupported }
        if flags.contains(.create) { throw .fileExists }
        try setDefault(try AttributeTextCodec.protection(bytes), of: folder, by: caller)
    }

    /// ENODATA where nobody has set one.
    func removexattr(of folder: ScopeDirectory, _ name: [UInt8], by caller: Caller) throws(Errno) {
        guard Self.isDefaultClass(name), folder.hasDefaultClass else { throw .noAttribute }
        guard try defaultProtection(of: folder) != .whenUnlocked else { throw .noAttribute }
        try setDefault(.whenUnlocked, of: folder, by: caller)
    }

    private static func isDefaultClass(_ name: [UInt8]) -> Bool { name == XattrName.name(of: .accessible) }

    /// Nil for a folder that has none.
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
