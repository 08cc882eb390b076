import FileSystemCore
import Keychain
import SystemPackage

/// What the name of an extended attribute stands for.
enum XattrName: Hashable, Sendable {
    /// `user.kSecClass`.
    case itemClass
    /// `user.kSecAttr…` of an attribute that the class has.
    case attribute(AttributeKey)
    /// `user.kSecAttr…` that the class does not have; other `user.kSec…` too: `kSecValueData` is the file's contents, and
    /// whoever sets it thinks that he changes the secret.
    case foreign
    /// Any other `user.…`: kept as it is, under the name after the namespace.
    case extra([UInt8])
    /// Outside `user.`: there are none.
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

    /// The whole name of an attribute.
    static func name(of key: AttributeKey) -> [UInt8] { namespace + Array(key.definition.name.utf8) }

    /// The whole name of an extra attribute.
    static func name(ofExtra rest: [UInt8]) -> [UInt8] { namespace + rest }
}
