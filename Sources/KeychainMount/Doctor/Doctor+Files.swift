import DeviceState
import Foundation

/// The users who can read or replace a keychain and the files that unlock it.
extension Doctor {
    var files: [Diagnosis.Finding] {
        [keychainFile, oldCopies, deviceKey, state] + [passphraseFile].compactMap(\.self)
    }

    private var keychainFile: Diagnosis.Finding {
        guard permissions(keychain) != nil else {
            return .init("keychain", .warning, "There is no keychain \(keychain).", file.creationAdvice)
        }
        return privateFile("keychain", keychain, "The keychain")
    }

    /// Copies preserved by `restore --replace` and `check --repair`, which open with the slots of their time.
    private var oldCopies: Diagnosis.Finding {
        let file = URL(fileURLWithPath: keychain, isDirectory: false)
        let directory = file.deletingLastPathComponent().path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        let copies = names.filter { name in
            [".replaced-", ".damaged-"].contains { name.hasPrefix(file.lastPathComponent + $0) }
        }
        guard let first = copies.sorted().first else {
            return .init("old-copies", .ok, "There are no older copies of the keychain next to it.")
        }
        return .init(
            "old-copies", .warning,
            "\(copies.count) older \(copies.count == 1 ? "copy" : "copies") of the keychain next to it: a former passphrase can open it.",
            "If you need nothing from it: 'rm \(directory)/\(first)'.")
    }

    private var deviceKey: Diagnosis.Finding {
        guard permissions(locations.deviceKey) != nil else {
            return .init("device-key", .ok, "There is no device key yet; the first keychain creates it.")
        }
        if let problem = DeviceKeyFile(locations).problem() {
            return .init("device-key", .problem, problem, "It is a file of 32 bytes; keychains know this device by it.")
        }
        if locations.deviceKeyCredential != nil {
            return .init("device-key", .ok, "The device key comes from a systemd credential.")
        }
        return privateFile("device-key", locations.deviceKey, "The device key")
    }

    private var state: Diagnosis.Finding {
        let directory = locations.stateDirectory
        guard let permissions = permissions(directory) else {
            return .init("state-directory", .ok, "There is no state directory yet.")
        }
        let fileAttributes = try? FileManager.default.attributesOfItem(atPath: directory)
        guard fileAttributes?[.type] as? FileAttributeType == .typeDirectory else {
            return .init(
                "state-directory", .problem, "\(directory) is not a directory.",
                "Move it away; it is created when it is needed.")
        }
        guard (fileAttributes?[.ownerAccountID] as? NSNumber)?.uint32Value == user else {
            return .init(
                "state-directory", .problem,
                "The state directory \(directory) belongs to another user, who can replace this device's key.",
                "Change its owner, or set XDG_STATE_HOME.")
        }
        guard FileManager.default.isWritableFile(atPath: directory) else {
            return .init(
                "state-directory", .warning,
                "Nothing can be written to \(directory): an older copy of a keychain will not be detected.",
                "Put it on a disk that can be written to, with XDG_STATE_HOME.")
        }
        return permissions & 0o077 == 0
            ? .init("state-directory", .ok, "The state directory \(directory) is for its owner alone.")
            : .init(
                "state-directory", .warning, "Other users have access to the state directory \(directory).",
                "'chmod 0700 \(directory)'")
    }

    private var passphraseFile: Diagnosis.Finding? {
        guard let path = locations.passphraseFile else { return nil }
        guard permissions(path) != nil else {
            return .init(
                "passphrase-file", .problem, "There is no file \(path), which KEYCHAINFS_PASSPHRASE_FILE names.",
                "Make it, mode 0600, or unset the variable.")
        }
        return privateFile("passphrase-file", path, "The passphrase file")
    }

    private func privateFile(_ name: String, _ path: String, _ what: String) -> Diagnosis.Finding {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        if let owner = (attributes?[.ownerAccountID] as? NSNumber)?.uint32Value, owner != user {
            return .init(
                name, .problem, "\(what) \(path) belongs to another user.", "Change its owner, or be that user.")
        }
        guard let permissions = permissions(path), permissions & 0o077 == 0 else {
            let right = (permissions(path) ?? 0) & 0o022 == 0 ? "can be read by others" : "can be changed by others"
            return .init(name, .problem, "\(what) \(path) \(right).", "'chmod 0600 \(path)'")
        }
        return .init(name, .ok, "\(what) \(path) is for its owner alone.")
    }

    /// Returns the permissions of a file; nil if it does not exist or cannot be inspected.
    func permissions(_ path: String) -> UInt32? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.posixPermissions] as? NSNumber)?.uint32Value
    }
}
