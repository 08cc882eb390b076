import KeychainMount
import SecretCrypto
import SystemPackage

/// An environment file and its path, which messages name.
struct LoadedEnvironmentFile {
    /// The greatest size of a file in bytes.
    private static let limit = 256 << 10
    /// The beginning of a value that refers to an item.
    private static let reference = "keychain:"

    private let path: String
    private let file: EnvironmentFile

    /// Reads a file: a plain one, a pipe, or an item.
    ///
    /// - Throws: `usage` for a malformed line.
    init(path: String) throws(CLIError) {
        let shown = Printable.text(path)
        let contents = try Self.contents(of: path, shown: shown)
        do throws(EnvironmentFile.ParseError) {
            file = try EnvironmentFile(contents)
        } catch {
            throw CLIError(.usage, "\(shown), line \(error.line): \(error.reason.rawValue).")
        }
        self.path = shown
    }

    private static func contents(of path: String, shown: String) throws(CLIError) -> SecretBytes {
        if let item = try MountedKeychains.item(at: path) {
            try item.requireResponse()
            return try ItemReader.read(item, limit: limit)
        }
        do {
            let file = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
            defer { try? file.close() }
            return try SecretBytes.read(from: file.rawValue, limit: limit)
        } catch let error as Errno {
            throw CLIError(.failure, "\(shown) cannot be read: \(error).")
        } catch CryptoError.invalidParameter {
            throw CLIError(.impossible, "\(shown) is not an environment file: it has more than 256 KiB.")
        } catch {
            throw CLIError(error as? CryptoError ?? .outOfSecretMemory, reading: shown)
        }
    }

    /// Adds the variables that the environment does not contain yet, the last line first.
    func add(to environment: inout Environment) throws(CLIError) {
        for assignment in file.assignments.reversed() where !environment.contains(assignment.name) {
            let source = "\(path), line \(assignment.line)"
            let value: SecretBytes
            do throws(CryptoError) {
                value = try file.value(of: assignment)
            } catch {
                throw CLIError(error, reading: source)
            }
            if let item = try Self.item(value, source) {
                try environment.add(assignment.name, from: item)
            } else {
                try environment.add(assignment.name, value, from: source)
            }
        }
    }

    /// Returns the item to which a value refers; nil if it is not a reference.
    private static func item(_ value: borrowing SecretBytes, _ source: String) throws(CLIError) -> ItemName? {
        let (octets, prefix) = (value.bytes.octets, Array(reference.utf8))
        guard octets.count >= prefix.count, prefix.indices.allSatisfy({ octets[$0] == prefix[$0] }) else { return nil }
        guard let text = String(validating: octets.indices.map { octets[$0] }, as: UTF8.self) else {
            throw CLIError(.impossible, "\(source) refers to a name that is not UTF-8.")
        }
        return ItemName(text)
    }
}
