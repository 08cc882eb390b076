import FileSystemCore
import Fuse
import Glibc
import Keychain
import KeychainMount
import LinuxSupport
import SystemPackage

/// The reason why an operation on a file of a keychain fails, in more detail than its errno.
struct AccessRefusal {
    private let file: MountedFolder
    /// The status of the keychain; nil if the caller cannot read it.
    private let status: StatusReport?

    init(of file: MountedFolder) {
        (self.file, status) = (file, file.status)
    }

    /// Whether the keychain refuses every change.
    var isReadOnly: Bool { status?.readOnly == true }

    /// - Parameter directory: Where a name cannot be created; nil for an operation on the file.
    func failure(_ error: Errno, at directory: String? = nil) -> CLIError {
        switch error {
        case .noKey: CLIError(.locked, locked)
        case .permissionDenied: CLIError(.noPermission, directory.map(owner) ?? permission)
        default: CLIError(error, item: file.shown)
        }
    }

    /// Returns the failure of another part of the program with the details that are known here.
    func detailed(_ failure: CLIError) -> CLIError {
        switch failure.exitCode {
        case .locked: self.failure(.noKey)
        case .noPermission: self.failure(.permissionDenied)
        default: failure
        }
    }

    /// Returns the failure of the creation of an item while the keychain is locked; nil if its class permits it.
    func newItem(in directory: String) -> CLIError? {
        guard let status, !status.isUnlocked else { return nil }
        let name = Array("user.\(AttributeKey.accessible.definition.name)".utf8)
        let text = (try? ExtendedAttributes.get(name, of: directory)).map { String(decoding: $0, as: UTF8.self) }
        let protection = ProtectionClass.allCases.first { $0.suffix == text } ?? .whenUnlocked
        switch protection {
        case .always, .alwaysThisDeviceOnly, .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly,
            .whenUnlockedUnlessOpen:
            return nil
        case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly:
            return CLIError(
                .locked,
                """
                \(file.shown) does not exist, and cannot be created: \(keychain) is locked, and new items there have the class \
                \(protection.suffix). Unlock it with '\(unlock)'.
                """)
        }
    }

    private var locked: String {
        guard let status else { return "\(file.shown) is locked. Unlock the keychain with 'keychainfs unlock'." }
        if status.isBeforeFirstUnlock {
            return """
                \(file.shown) is not available: \(keychain) has not been unlocked since it was mounted, and does not show before whether \
                \(file.shown) exists. Unlock it with '\(unlock)'.
                """
        }
        guard status.isUnlocked else {
            return """
                \(file.shown) is locked: its protection class permits access only while \(keychain) is unlocked. Unlock it with \
                '\(unlock)'.
                """
        }
        return """
            \(file.shown) cannot be opened here, although \(keychain) is unlocked: another device has created it with a class \
            ThisDeviceOnly, or it has the class WhenPasscodeSetThisDeviceOnly and no passphrase unlocks the keychain.
            """
    }

    private var keychain: String { "the keychain at \(Printable.text(file.mountPoint))" }

    private var unlock: String {
        MountPointCommand.text("unlock", file.mountPoint)
    }

    /// The first directory on the way that the caller may not use, or the file.
    private var permission: String {
        let obstacle = file.pathsOnTheWay.first { path in
            guard let access = try? FileAccess(of: path) else { return true }
            return access.isDirectory && (try? FileAccess.require(.search, of: path)) == nil
        }
        return owner(of: obstacle ?? file.path)
    }

    private func owner(of path: String) -> String {
        guard let access = try? FileAccess(of: path) else {
            return """
                No permission for \(file.shown): another user has mounted \(keychain), and only that user can enter it. The mount \
                option allow_other permits others.
                """
        }
        let mode = String(access.mode, radix: 8)
        return """
            No permission for \(file.shown): \(Printable.text(path)) has mode \(mode) and belongs to \(user(access.owner)), and you are \
            \(user(geteuid())).
            """
    }

    private func user(_ identifier: UInt32) -> String {
        UserAccount.name(of: identifier).map { "\(Printable.text($0)) (\(identifier))" } ?? "user \(identifier)"
    }
}
