import FileSystemCore
import Foundation
import Fuse
import Keychain
import SystemPackage

/// All attributes of an item in a mount, never its secret (X1).
package struct ItemDescription: Sendable {
    private let file: String

    package init(file: String) {
        self.file = file
    }

    /// One `name: value` per attribute that is set, in the order of the attribute table; then other `user.` names.
    package func lines() throws(Failure) -> [String] {
        try checkDaemon()
        guard let code = try value("user.kSecClass"), let itemClass = Self.itemClass(code) else {
            throw Failure(.failure, "\(file) is no item of a mounted keychain.")
        }
        var lines = ["kSecClass: \(itemClass.suffix)"]
        for key in AttributeKey.allCases where key.definition.classes.contains(itemClass) {
            guard let bytes = try value("user." + key.definition.name) else { continue }
            lines.append("\(key.definition.name): \(Self.printable(bytes))")
        }
        for name in try names() where !name.hasPrefix("user.kSecAttr") {
            guard let bytes = try value(name) else { continue }
            lines.append("\(name.dropFirst("user.".count)): \(Self.printable(bytes))")
        }
        return lines
    }

    /// A daemon that does not answer would keep this process where no signal reaches it (contract, L4), and of one that has
    /// died the kernel's error says little.
    private func checkDaemon() throws(Failure) {
        guard let mountPoint = MountedKeychains.mountPoint(onTheWayTo: FilePath(file)) else { return }
        if let silence = MountClient(mountPoint: mountPoint).silence() { throw silence }
    }

    private static func itemClass(_ bytes: [UInt8]) -> ItemClass? {
        ItemClass.allCases.first { Array($0.suffix.utf8) == bytes }
    }

    /// Text as it is, on one line; anything else in hexadecimal.
    private static func printable(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains(where: \.isControl) {
            return text
        }
        let digits = bytes.map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }
        return "0x" + digits.joined()
    }

    private func value(_ name: String) throws(Failure) -> [UInt8]? {
        do {
            return try ExtendedAttributes.get(name, of: file)
        } catch .noAttribute, .operationNotSupported {
            return nil
        } catch {
            throw failure(error)
        }
    }

    private func names() throws(Failure) -> [String] {
        do {
            return try ExtendedAttributes.list(of: file).sorted()
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: Errno) -> Failure {
        switch error {
        case .noKey: Failure(.locked, "\(file) is locked. Unlock the keychain with 'keychainfs unlock'.")
        case .noSuchFileOrDirectory: Failure(.failure, "There is no \(file).")
        default: Failure(.failure, "\(file) cannot be read: \(error).")
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool { properties.generalCategory == .control }
}
