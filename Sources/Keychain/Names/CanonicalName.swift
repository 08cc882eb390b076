import SecretCrypto

/// The only valid file name of a key: of an account in its service, a service in its item class, or an access group.
///
/// A spelling over 255 bytes is cut at a character or `%XX` boundary at or below 221 bytes, followed by `%~` and 32 hex
/// digits: the unkeyed BLAKE2b-128 of the complete spelling. Lookup tags are computed from this name, so that a cut
/// name finds its row as well.
package struct CanonicalName: Hashable, Sendable {
    package static let maximumLength = 255
    private static let keptLength = 221
    private static let hashLength = 16

    package let bytes: [UInt8]

    /// The name of an account.
    package init(account: AttributeValue) {
        self.init(spelling: NameEncoding.encode(account.bytes ?? []))
    }

    /// The name of a service directory.
    package init(service: ServiceKey) {
        self.init(spelling: ServiceName.spelling(of: service.normalized))
    }

    /// The name of an access group.
    package init(accessGroup: [UInt8]) {
        self.init(spelling: NameEncoding.encode(accessGroup))
    }

    private init(spelling: [UInt8]) {
        bytes = spelling.count <= Self.maximumLength ? spelling : Self.cut(spelling)
    }

    /// Whether the name is cut, so that it does not contain the complete key.
    package var isCut: Bool { Self.isCut(bytes) }

    /// Whether a name has the form of a cut name, which no complete spelling has.
    package static func isCut(_ name: [UInt8]) -> Bool {
        let tail = hashLength * 2 + 2
        // A character or `%XX` that no longer fits has at most four bytes.
        guard (keptLength - 3 + tail...keptLength + tail).contains(name.count) else { return false }
        let suffix = name.suffix(tail)
        return suffix.starts(with: Array("%~".utf8))
            && suffix.dropFirst(2).allSatisfy { NameEncoding.hexDigit($0) != nil }
    }

    private static func cut(_ spelling: [UInt8]) -> [UInt8] {
        var end = 0
        while true {
            let length = characterLength(in: spelling, at: end)
            guard end + length <= keptLength else { break }
            end += length
        }
        let hash = BLAKE2b.hash(spelling, count: hashLength)
        return spelling[..<end] + Array("%~".utf8)
            + hash.flatMap { [NameEncoding.hex($0 >> 4), NameEncoding.hex($0 & 0xF)] }
    }

    private static func characterLength(in spelling: [UInt8], at index: Int) -> Int {
        spelling[index] == UInt8(ascii: "%") ? 3 : max(1, UTF8Sequence.length(in: spelling, at: index))
    }
}

/// The meaning of a typed name.
package enum ParsedName<Key: Hashable & Sendable>: Hashable, Sendable {
    case key(Key)
    /// A cut name: only the store knows its key.
    case cut
}

/// The reason why a typed name is refused.
package enum NameError: Error, Hashable, Sendable {
    /// The name is not the canonical spelling of a key.
    case notCanonical
    /// The name contains bytes that are not UTF-8.
    case notUTF8
}

extension CanonicalName {
    /// Creates a name from typed bytes. The methods below check that it is canonical.
    package init(typed bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Returns the account that the name represents.
    package func account() throws(NameError) -> ParsedName<AttributeValue> {
        try checkForm()
        if isCut { return .cut }
        guard let account = NameEncoding.decode(bytes) else { throw .notCanonical }
        return .key(.blob(account))
    }

    /// Returns the service that the name represents in a class directory.
    package func service(in itemClass: ItemClass) throws(NameError) -> ParsedName<ServiceKey> {
        try checkForm()
        if isCut { return .cut }
        let service: ServiceKey?
        switch itemClass {
        case .genericPassword: service = NameEncoding.decode(bytes).map { .generic(service: .blob($0)) }
        case .internetPassword: service = ServiceName.parse(bytes).map { .internet($0.normalized) }
        }
        guard let service, CanonicalName(service: service) == self else { throw .notCanonical }
        return .key(service)
    }

    /// Returns the access group that the name represents: text, and not the default group, which the root of the mount
    /// shows.
    package func accessGroup() throws(NameError) -> ParsedName<[UInt8]> {
        try checkForm()
        if isCut { return .cut }
        guard let group = NameEncoding.decode(bytes), AttributeValue.isValidUTF8(group),
            group != ContainerKey.defaultAccessGroup
        else { throw .notCanonical }
        return .key(group)
    }

    private func checkForm() throws(NameError) {
        guard bytes.count <= Self.maximumLength else { throw .notCanonical }
        guard AttributeValue.isValidUTF8(bytes) else { throw .notUTF8 }
    }
}
