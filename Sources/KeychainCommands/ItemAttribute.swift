package import Keychain
import KeychainMount
import KeychainTree

/// An attribute that a command sets: the name and value of an extended attribute (contract, X2), without `user.`.
package struct ItemAttribute: Hashable, Sendable {
    package let name: String
    package let value: [UInt8]

    package init(_ key: AttributeKey, _ value: String) {
        (name, self.value) = (key.definition.name, Array(value.utf8))
    }

    /// Parses `NAME=VALUE`; nil without an equals sign, or without a name.
    package init?(_ text: String) {
        // Bytes: a value may begin with a combining character.
        guard let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")), sign > text.startIndex else { return nil }
        name = String(decoding: text.utf8[..<sign], as: UTF8.self)
        value = Array(text.utf8[sign...].dropFirst())
    }

    /// Requires that an item of the class can have the attribute, before anything is created.
    ///
    /// - Throws: `impossible`.
    func check(for itemClass: ItemClass) throws(CLIError) {
        let shown = Printable.text(name)
        guard let key = AttributeKey.allCases.first(where: { $0.definition.name == name }) else {
            return try checkOther(shown)
        }
        guard key.definition.role != .primaryKey else {
            throw CLIError(.impossible, "\(shown) cannot be set: the path of the item determines it.")
        }
        guard key.definition.role == .caller || key.definition.role == .protection,
            key.definition.classes.contains(itemClass)
        else { throw CLIError(.impossible, "\(shown) cannot be set for an item of this class.") }
        guard AttributeTextCodec.decode(value, for: key, current: nil) != nil else {
            throw CLIError(.impossible, "\(shown) cannot have this value. \(Self.advice(key))")
        }
    }

    /// A name that is not an attribute of the keychain is stored as it is, unless it is a mistake for one.
    private func checkOther(_ shown: String) throws(CLIError) {
        guard !name.lowercased().hasPrefix("ksec") else {
            throw CLIError(
                .impossible, "There is no attribute \(shown). 'keychainfs show' and 'getfattr -d' show the names.")
        }
        if let meant = AttributeKey.allCases.first(where: { $0.isCalled(name) }) {
            throw CLIError(.impossible, "There is no attribute \(shown). Did you mean \(meant.definition.name)?")
        }
    }

    private static func advice(_ key: AttributeKey) -> String {
        guard key.definition.kind == .protection else { return "The guide lists the values of attributes." }
        return "It is one of " + ProtectionClass.allCases.map(\.suffix).joined(separator: ", ") + "."
    }
}
