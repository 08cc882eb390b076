import FileSystemCore
import Keychain
import SystemPackage

/// The meaning of an extended attribute's name.
enum XattrName: Hashable, Sendable {
    /// `user.kSecClass`.
    case itemClass
    /// `user.kSecAttr…` of an attribute that the class has.
    case attribute(AttributeKey)
    /// `user.kSecAttr…` that the class does not have, and other `user.kSec…`: `kSecValueData` is the file's contents,
    /// and setting it as an attribute would not change the secret.
    case foreign
    /// Any other `user.…`, stored under the name after the namespace.
    case extra([UInt8])
    /// A name outside of `user.`, which is not supported.
    case unsupported

    private static let namespace = Array("user.".utf8)
    private static let ownPrefix = Array("user.kSec".utf8)

    init(_ name: [UInt8], in itemClass: ItemClass) {
        guard name.starts(with: Self.namespace), name.count > Self.namespace.count else {
            self = .unsupported
            return
        }
        let rest = Array(name.dropFirst(Self.namespace.count))
        if rest == Array("kSecClass".utf8) {
            self = .itemClass
        } else if !name.starts(with: Self.ownPrefix) {
            self = .extra(rest)
        } else {
            let key = AttributeKey.named(String(decoding: rest, as: UTF8.self), in: itemClass)
            self = key.map { .attribute($0) } ?? .foreign
        }
    }

    /// Returns the complete name of an attribute.
    static func name(of key: AttributeKey) -> [UInt8] { namespace + Array(key.definition.name.utf8) }

    /// Returns the complete name of an extra attribute.
    static func name(ofExtra rest: [UInt8]) -> [UInt8] { namespace + rest }
}
