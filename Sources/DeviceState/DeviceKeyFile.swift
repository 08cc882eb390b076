import Foundation
import Glibc
import LinuxSupport
package import SecretCrypto
import SystemPackage

/// The key of this device: 32 random bytes in a file that only its owner can read (S3).
package struct DeviceKeyFile: Sendable {
    private static let byteCount = 32
    private let path: FilePath
    /// Passed by systemd: it is never made.
    private let isCredential: Bool

    package init(path: String, isCredential: Bool = false) {
        self.path = FilePath(path)
        self.isCredential = isCredential
    }

    /// The key of this device as it is passed or kept.
    package init(_ locations: DefaultPaths) {
        self.init(path: locations.deviceKey, isCredential: locations.deviceKeyCredential != nil)
    }

    /// Whether other users may read it, which matters only where systemd does not decide who may.
    package var othersMayRead: Bool { !isCredential && FileExposure(path: path.string)?.othersMayRead == true }

    /// Whether there is anything of that name.
    package var exists: Bool { (try? FileManager.default.attributesOfItem(atPath: path.string)) != nil }

    /// The key; made when first asked for.
    package func read() throws(DeviceKeyError) -> SecretBytes {
        if let key = try existing() {
            // Who made it may have been killed before its name was durable, and items are about to be bound to it.
            if !isCredential { try? FileRenaming.synchronize(directory: path.removingLastComponent().string) }
            return key
        }
        // It was there a moment ago.
        guard !isCredential else { throw unusable("cannot be read any more.") }
        try create()
        guard let key = try existing() else { throw unusable("cannot be made.") }
        return key
    }

    /// The key, or one that is forgotten again: for who must not write anything.
    package func readOnly() throws(DeviceKeyError) -> SecretBytes {
        if let key = try existing() { return key }
        do {
            return try SecretBytes(randomCount: Self.byteCount)
        } catch {
            throw DeviceKeyError(message: "There is no locked memory left for keys.")
        }
    }

    /// Why the key that is there cannot be used; nil if it can, or there is none.
    package func problem() -> String? {
        do throws(DeviceKeyError) {
            _ = try existing()?.count
            return nil
        } catch {
            return error.message
        }
    }

    private func existing() throws(DeviceKeyError) -> SecretBytes? {
        do throws(SecretFileError) {
            let key = try SecretFile.read(path.string, limit: Self.byteCount, followsLinks: false).take()
            guard key.count == Self.byteCount else { throw .tooLong }
            return key
        } catch .crypto(.io(ENOENT)) {
            return nil
        } catch {
            throw unusable(reason(error))
        }
    }

    private func reason(_ error: SecretFileError) -> String {
        switch error {
        case .crypto(.io(let number)): "cannot be read: \(Errno(rawValue: number))."
        case .crypto: "cannot be read: there is no locked memory left."
        case .othersMayWrite, .notPrivate:
            "is refused: other users may write to it, and so choose the key ('chmod 600', or 'chown' it to this user)."
        case .notRegular, .tooLong:
            isCredential
                ? "is no credential for a device key, which has exactly 32 bytes."
                : """
                is damaged. Restore a copy of it; or move it away to continue with a new one, which opens no item that is bound to \
                this device (ThisDeviceOnly).
                """
        }
    }

    /// Written under another name first, so that nobody ever reads half a key or replaces one. Durable when it returns:
    /// without it, items that are bound to this device are lost.
    private func create() throws(DeviceKeyError) {
        do throws(Errno) {
            try FileRenaming.makeDirectory(path.removingLastComponent().string)
            let temporaryFile = try TemporaryFile(for: path.string)
            try temporaryFile.writeRandom(count: Self.byteCount)
            try temporaryFile.install()
        } catch {
            // Another process may have been faster: then its key is the device's.
            guard error != .fileExists else { return }
            throw unusable("cannot be made: \(reason(error)).")
        }
    }

    private func reason(_ error: Errno) -> String {
        switch error {
        case .permissionDenied, .notPermitted:
            "this user must be able to write to \(path.removingLastComponent().string)"
        default: "\(error)"
        }
    }

    private func unusable(_ reason: String) -> DeviceKeyError {
        DeviceKeyError(message: "The device key \(path.string) \(reason)")
    }
}

/// Why there is no device key, for a person.
package struct DeviceKeyError: Error, Sendable {
    package let message: String
}
