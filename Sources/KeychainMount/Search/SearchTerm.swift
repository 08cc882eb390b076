import Keychain
import KeychainRPC
import KeychainTree

/// An `ATTRIBUTE=VALUE` of a search.
package struct SearchTerm: Sendable {
    /// The reason why a term is invalid.
    enum ParseError: Error, Equatable {
        case unknownAttribute(String)
        case badValue(String)
    }

    /// The name as typed.
    let name: String
    let key: AttributeKey
    private let text: String

    /// Parses a term. `ATTRIBUTE` is a constant's name (`kSecAttrLabel`), its end in any case (`label`), or its value
    /// (`labl`); `VALUE` is the value of the extended attribute (contract, X2), or `0x` and the digits of bytes.
    ///
    /// Returns nil without an equals sign: the argument is a word (``SearchWords``).
    init?(_ argument: String) throws(ParseError) {
        // Bytes: a value may begin with a combining character.
        guard let sign = argument.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = String(decoding: argument.utf8[..<sign], as: UTF8.self)
        self.name = name
        text = String(decoding: argument.utf8[sign...].dropFirst(), as: UTF8.self)
        guard let key = AttributeKey.allCases.first(where: { $0.isSearchable && $0.isCalled(name) }) else {
            throw .unknownAttribute(name)
        }
        self.key = key
        _ = try value()
    }

    /// The short names of all attributes that can be searched.
    package static var names: [String] {
        AttributeKey.allCases.filter(\.isSearchable).map { key in
            let name = String(key.definition.name.dropFirst("kSecAttr".count))
            return name.prefix(1).lowercased() + name.dropFirst()
        }
    }

    func belongs(to itemClass: ItemClass) -> Bool { key.definition.classes.contains(itemClass) }

    /// Returns the value for a query.
    func value() throws(ParseError) -> PropertyList {
        guard let value = AttributeTextCodec.decode(bytes, for: key, current: nil) else { throw .badValue(name) }
        return key == .synchronizable ? .boolean(value == .number(1)) : PropertyList(value)
    }

    private var bytes: [UInt8] {
        let takesBytes = key.definition.kind == .blob || key.definition.kind == .data
        return takesBytes ? Hexadecimal.bytes(text) ?? Array(text.utf8) : Array(text.utf8)
    }
}

extension AttributeKey {
    /// Whether the attribute can be searched: items can have a value of it.
    fileprivate var isSearchable: Bool {
        ![.accessControl, .persistentReference, .uuid, .sha1, .tombstone].contains(self) && definition.role != .refused
    }

    /// Whether a name that a user has typed is the constant's name, its end in any case, or its value.
    package func isCalled(_ name: String) -> Bool {
        definition.name == name || definition.code == name
            || definition.name.lowercased() == "ksecattr" + name.lowercased()
    }
}
