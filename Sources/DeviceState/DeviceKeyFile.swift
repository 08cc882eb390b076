import Foundation
import Glibc
import LinuxSupport
package import SecretCrypto
import SystemPackage

/// The device key: 32 random bytes in a file that only its owner can read (S3).
package struct DeviceKeyFile: Sendable {
    private static let byteCount = 32
    private let path: FilePath
    /// Whether systemd passes the key. It is never created then.
    private let isCredential: Bool

    package init(path: String, isCredential: Bool = false) {
        self.path = FilePath(path)
        self.isCredential = isCredential
    }

    /// Creates a reference to the key that is passed or stored.
    package init(_ locations: DefaultPaths) {
        self.init(path: locations.deviceKey, isCredential: locations.deviceKeyCredential != nil)
    }

    /// Whether other users may read the file. False if systemd passes the key and controls the access.
    package var othersMayRead: Bool { !isCredential && FileExposure(path: path.string)?.othersMayRead == true }

    /// Whether a file of any type has that name.
    package var exists: Bool { (try? FileManager.default.attributesOfItem(atPath: path.string)) != nil }

    /// Returns the key; creates it if it does not exist.
    package func read() throws(DeviceKeyError) -> SecretBytes {
        if let key = try existing() {
            // The process that created the key may have been killed before the name was durable, and items are about to
            // depend on it.
            if !isCredential { try? FileRenaming.synchronize(directory: path.removingLastComponent().string) }
            return key
        }
        // It existed immediately before.
        guard !isCredential else { throw unusable("cannot be read any more.") }
        try create()
        guard let key = try existing() else { throw unusable("cannot be created.") }
        return key
    }

    /// Returns the key, or a random key that is not stored. For callers that must not write to disk.
    package func readOnly() throws(DeviceKeyError) -> SecretBytes {
        if let key = try existing() { return key }
        do {
            return try SecretBytes(randomCount: Self.byteCount)
        } catch {
            throw DeviceKeyError(message: "There is no locked memory left for keys.")
        }
    }

    /// Returns the reason why the existing key cannot be used; nil if it can, or does not exist.
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
                ? "is not a valid device key credential, which has exactly 32 bytes."
                : """
                is damaged. Restore a copy of it; or move it away to continue with a new one, which opens no item that is bound to \
                this device (ThisDeviceOnly).
                """
        }
    }

    /// Creates the key under a temporary name, so that no process reads a part of it and none is replaced. Durable on
    /// return: without the key, ThisDeviceOnly items are lost.
    private func create() throws(DeviceKeyError) {
        do throws(Errno) {
            try FileRenaming.makeDirectory(path.removingLastComponent().string)
            let temporaryFile = try TemporaryFile(for: path.string)
            try temporaryFile.writeRandom(count: Self.byteCount)
            try temporaryFile.install()
        } catch {
            // Another process has created the key at the same time; it is the device's key then.
            guard error != .fileExists else { return }
            throw unusable("cannot be created: \(reason(error)).")
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

/// The reason why there is no device key, as a message for the user.
package struct DeviceKeyError: Error, Sendable {
    package let message: String
}
