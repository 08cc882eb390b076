import FileSystemCore
import Foundation
import Fuse
import Keychain
import KeychainConnection
import LinuxSupport
import SystemPackage

/// All attributes of an item or a service directory in a mount, without its secret (X1).
package struct ItemDescription: Sendable {
    private let file: String
    private let itemClass: ItemClass
    /// The attributes that are set, in the order of the attribute table; then other `user.` names, without a key.
    private let attributes: [(key: AttributeKey?, name: String, value: [UInt8])]

    /// Reads the attributes from the file's extended attributes.
    ///
    /// - Throws: `notMounted` if the path is not in the mount of a keychain; `notFound` if nothing has this name;
    ///   `locked`, `damaged`.
    package init(_ name: ItemName) throws(CLIError) {
        let file = try name.path()
        let reader = AttributeReader(file: file)
        try Self.requireMount(file)
        guard let code = try reader.value("user.kSecClass"), let itemClass = Self.itemClass(code) else {
            throw CLIError(.failure, "\(file) is neither an item nor a service.")
        }
        self.file = file
        self.itemClass = itemClass
        attributes = try reader.attributes(of: itemClass)
    }

    /// The text: one `name: value` per line.
    package var text: String {
        let lines = attributes.map { "\(Self.printable(name: $0.name)): \(Self.printable($0.value))" }
        return (["kSecClass: \(itemClass.suffix)"] + lines).joined(separator: "\n")
    }

    /// An object in the format of `search --json`.
    package var jsonText: String {
        let path = file.hasPrefix("/") ? file : FileManager.default.currentDirectoryPath + "/" + file
        return FoundItem(
            path: path, itemClass: itemClass.suffix,
            attributes: Dictionary(
                attributes.map { ($0.name, AttributeJSON(extendedAttribute: $0.value, of: $0.key)) },
                uniquingKeysWith: { first, _ in first })
        ).jsonText
    }

    /// Requires a path in a mounted keychain, because files elsewhere can have attributes of the same names; and that the
    /// daemon responds: otherwise this process would block without reacting to signals (contract, L4). After the
    /// daemon's death the kernel's error would not be clear.
    private static func requireMount(_ file: String) throws(CLIError) {
        guard let found = MountedKeychains.resolve(FilePath(file)) else {
            throw CLIError(
                .notMounted, "\(file) is not in a mounted keychain. 'keychainfs mount' mounts one; name a file in it.")
        }
        try MountClient(mountPoint: found.mount.path, owner: .anyone).requireResponse(acceptsPart: true)
    }

    private static func itemClass(_ bytes: [UInt8]) -> ItemClass? {
        ItemClass.allCases.first { Array($0.suffix.utf8) == bytes }
    }

    /// Returns a name unchanged; in hexadecimal if it has characters with an effect on a terminal or on the value
    /// after it, because every program that copies files brings its own names.
    private static func printable(name: String) -> String {
        Printable.text(name) == name ? name : Hexadecimal.text(Array(name.utf8))
    }

    /// Returns text unchanged, on one line; other bytes in hexadecimal.
    private static func printable(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains(where: \.isControl) {
            return text
        }
        return Hexadecimal.text(bytes)
    }
}

/// Reads the extended attributes of one file.
private struct AttributeReader {
    let file: String

    func attributes(of itemClass: ItemClass) throws(CLIError) -> [(key: AttributeKey?, name: String, value: [UInt8])] {
        var found: [(key: AttributeKey?, name: String, value: [UInt8])] = []
        for key in AttributeKey.allCases where key.definition.classes.contains(itemClass) {
            guard let bytes = try value("user." + key.definition.name) else { continue }
            found.append((key, key.definition.name, bytes))
        }
        for name in try names() where !name.starts(with: "user.kSecAttr".utf8) {
            guard let bytes = try value(name) else { continue }
            let shown = Array(name.dropFirst("user.".utf8.count))
            found.append((nil, String(validating: shown, as: UTF8.self) ?? Hexadecimal.text(shown), bytes))
        }
        return found
    }

    func value(_ name: String) throws(CLIError) -> [UInt8]? { try value(Array(name.utf8)) }

    private func value(_ name: [UInt8]) throws(CLIError) -> [UInt8]? {
        do {
            return try ExtendedAttributes.get(name, of: file)
        } catch .noAttribute, .operationNotSupported {
            return nil
        } catch {
            throw failure(error)
        }
    }

    private func names() throws(CLIError) -> [[UInt8]] {
        do {
            return try ExtendedAttributes.list(of: file).sorted { $0.lexicographicallyPrecedes($1) }
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: Errno) -> CLIError { CLIError(error, item: Printable.text(file)) }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool { properties.generalCategory == .control }
}
