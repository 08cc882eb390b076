package import Keychain
import SecretCrypto
import SystemPackage

/// A mounted keychain, through its control files (design section 9).
package struct MountClient: Sendable {
    private let mountPoint: String

    /// No answer is longer than this.
    private static let answerLimit = 1 << 20

    package init(mountPoint: String) {
        self.mountPoint = mountPoint
    }

    package func status() throws(Failure) -> StatusReport {
        let file = try open("status", .readOnly)
        defer { try? file.close() }
        do {
            return try StatusReport(json: try Self.answer(from: file))
        } catch {
            throw Failure(.failure, "\(mountPoint) gives no status that this version understands.")
        }
    }

    /// Runs a command of `.keychainfs/control`; returns its answer.
    package func run(_ command: String) throws(Failure) -> [UInt8] {
        try send(try Self.message(command, count: 0))
    }

    /// The same, with secret input after the command; one write, straight from locked memory.
    ///
    /// `meaning`: what an errno means in this command; nil for what it means in all.
    func run(
        _ command: String, secret: borrowing SecretBytes, meaning: (Errno) -> Failure? = { _ in nil }
    ) throws(Failure) -> [UInt8] {
        var message = try Self.message(command, count: secret.count)
        let end = message.count - secret.count
        var output = message.mutableBytes
        _ = output.write(secret.bytes, at: end)
        return try send(message, meaning)
    }

    package func unlock(with secret: borrowing UnlockSecret, acceptingRollback: Bool) throws(Failure) {
        let command = UnlockCommand(kind: secret.kind, acceptsRollback: acceptingRollback)
        do throws(Failure) {
            _ = try run(command.line, secret: secret.bytes)
        } catch  where error.exitCode == .wrongPassphrase {
            throw Failure(
                .wrongPassphrase,
                "\(secret.kind.subject) does not open the keychain at \(mountPoint). \(secret.kind.advice)")
        }
    }

    /// The command's line, and room for `count` bytes after it.
    private static func message(_ command: String, count: Int) throws(Failure) -> SecretBytes {
        let line = Array((command + "\n").utf8)
        guard var message = try? SecretBytes(count: line.count + count) else {
            throw Failure(.failure, "There is no locked memory left for the passphrase.")
        }
        var output = message.mutableBytes
        _ = output.write(line.rawSpan)
        return message
    }

    private func send(
        _ message: borrowing SecretBytes, _ meaning: (Errno) -> Failure? = { _ in nil }
    ) throws(Failure) -> [UInt8] {
        let file = try open("control", .readWrite)
        defer { try? file.close() }
        do {
            try message.write(to: file.rawValue)
            return try Self.answer(from: file)
        } catch {
            let errno = (error as? Errno) ?? (error as? CryptoError)?.errno
            throw errno.flatMap(meaning) ?? refusal(errno)
        }
    }

    private static func answer(from file: FileDescriptor) throws -> [UInt8] {
        let answer = try SecretBytes.read(from: file.rawValue, limit: answerLimit)
        return [UInt8](copying: answer.bytes)
    }

    private func open(_ name: String, _ mode: FileDescriptor.AccessMode) throws(Failure) -> FileDescriptor {
        do {
            return try FileDescriptor.open(
                FilePath(mountPoint).appending(".keychainfs").appending(name), mode, options: .closeOnExec)
        } catch Errno.permissionDenied {
            throw Failure(.notMounted, "\(mountPoint) belongs to another user; only that user can reach it.")
        } catch Errno.noSuchFileOrDirectory, Errno.notDirectory {
            throw Failure(.notMounted, "No keychain is mounted at \(mountPoint). Mount one with 'keychainfs mount'.")
        } catch Errno.socketNotConnected {
            throw Failure(
                .notMounted, "The daemon of \(mountPoint) has died. 'keychainfs mount' cleans up and mounts again.")
        } catch {
            throw Failure(.failure, "The keychain at \(mountPoint) does not answer: \(error).")
        }
    }

    private func refusal(_ errno: Errno?) -> Failure {
        switch errno {
        case Errno(rawValue: 129):
            return Failure(.wrongPassphrase, "The passphrase does not open the keychain at \(mountPoint). Try again.")
        case Errno(rawValue: 126):
            return Failure(.locked, "The keychain at \(mountPoint) is locked. Unlock it with 'keychainfs unlock'.")
        case Errno.staleNFSFileHandle:
            return Failure(
                .rolledBack,
                """
                The keychain at \(mountPoint) is OLDER than what this device has seen of it, or what this device kept to \
                tell is damaged. It stays locked. If you put an old copy in its place, accept it with --accept-rollback.
                """)
        case Errno.noSpace:
            return Failure(
                .diskFull, "The disk that holds the keychain of \(mountPoint) is full. Make room and try again.")
        case Errno.readOnlyFileSystem:
            return Failure(
                .readOnly,
                """
                The keychain of \(mountPoint) is on a read-only medium, where the daemon cannot make its copy. \
                'keychainfs unmount' it and try again.
                """)
        case Errno.resourceBusy:
            return Failure(
                .inUse, "The daemon of \(mountPoint) is at such a command already. Try again when it is done.")
        case Errno.noMemory:
            return Failure(.failure, "The daemon has not enough memory for the key derivation.")
        default:
            return Failure(
                .failure,
                "The keychain at \(mountPoint) refused the command (\(errno.map(String.init(describing:)) ?? "unknown error"))."
            )
        }
    }
}

extension CryptoError {
    fileprivate var errno: Errno? {
        if case .io(let code) = self { Errno(rawValue: code) } else { nil }
    }
}
