import FileSystemCore
import Keychain
import Synchronization
import SystemPackage

/// Extended attributes of service directories (X5).
extension KeychainFileSystem {
    func xattrs(of directory: ServiceDirectory) throws(Errno) -> DirectoryXattrs {
        let found = try record(of: directory)
        return DirectoryXattrs(
            service: found.key.service, container: directory.container, defaultProtection: found.defaultProtection,
            inheritedProtection: try record(found.parent).defaultProtection)
    }

    /// Sets an attribute of a directory.
    ///
    /// - Throws: ENOKEY for another default class while locked: a user of a locked keychain must not determine the
    ///   class of items that are added later.
    func setxattr(
        of directory: ServiceDirectory, _ name: [UInt8], to bytes: [UInt8], _ flags: XattrFlags, by caller: Caller
    ) throws(Errno) {
        try checkWritable()
        guard let protection = try xattrs(of: directory).set(name, to: bytes, flags: flags) else { return }
        try setDefault(protection, of: directory, by: caller)
    }

    func removexattr(of directory: ServiceDirectory, _ name: [UInt8], by caller: Caller) throws(Errno) {
        try checkWritable()
        try setDefault(try xattrs(of: directory).remove(name), of: directory, by: caller)
    }

    private func setDefault(
        _ protection: ProtectionClass, of directory: ServiceDirectory, by caller: Caller
    ) throws(Errno) {
        let record = try record(of: directory)
        guard record.defaultProtection != protection else { return }
        try checkUnlocked()
        try options.checkProtection(record.defaultProtection, protection, record.file, caller)
        try mapped { () throws(KeychainFault) in
            try keychain.change { (transaction) throws(KeychainFault) in
                guard var record = try transaction.directory(id: directory.row) else { throw .itemNotFound }
                guard record.defaultProtection != protection else { return }
                record.defaultProtection = protection
                _ = try transaction.save(record)
            }
        }
    }

    func checkUnlocked() throws(Errno) {
        guard keychain.keys.state == .unlocked else { throw .noKey }
    }
}

extension Directory.Key {
    /// The attributes that a service directory represents; an empty service for any other directory.
    var service: ServiceKey {
        if case .service(let service) = self { service } else { .generic(service: .text([])) }
    }
}
