import SecretCrypto

/// The only valid file name of a key: of an account in its service, a service in its item class, or an access group.
///
/// A spelling over 255 bytes is cut at a character or `%XX` boundary at or below 221 bytes, followed by `%~` and 32 hex
/// digits: the unkeyed BLAKE2b-128 of the complete spelling. Names of generic services have one byte less, which a later
/// version uses for a mark. Lookup tags are computed from this name, so that a cut name finds its row as well.
package struct CanonicalName: Hashable, Sendable {
    package static let maximumLength = 255
    /// The maximum size of the name of a generic service.
    private static let folderLength = maximumLength - 1
    private static let hashLength = 16
    /// The size of `%~` and the hash.
    private static let tailLength = 2 + 2 * hashLength

    package let bytes: [UInt8]

    /// The name of an account.
    package init(account: AttributeValue) {
        self.init(spelling: NameEncoding.encode(account.bytes ?? []))
    }

    /// The name of a service directory.
    package init(service: ServiceKey) {
        self.init(
            spelling: ServiceName.spelling(of: service.normalized), maximum: Self.maximum(service.itemClass))
    }

    private static func maximum(_ itemClass: ItemClass) -> Int {
        itemClass == .genericPassword ? folderLength : maximumLength
    }

    /// The name of an access group.
    package init(accessGroup: [UInt8]) {
        self.init(spelling: NameEncoding.encode(accessGroup))
    }

    private init(spelling: [UInt8], maximum: Int = maximumLength) {
        bytes = spelling.count <= maximum ? spelling : Self.cut(spelling, to: maximum - Self.tailLength)
    }

    /// Whether the name is cut, so that it does not contain the complete key.
    package var isCut: Bool { isCut(to: Self.maximumLength) || isCut(to: Self.folderLength) }

    /// Whether the name has the form of a name that is cut to a size, which no complete spelling has.
    private func isCut(to maximum: Int) -> Bool {
        // A character or `%XX` that no longer fits has at most four bytes.
        guard (maximum - 3...maximum).contains(bytes.count) else { return false }
        let suffix = bytes.suffix(Self.tailLength)
        return suffix.starts(with: Array("%~".utf8))
            && suffix.dropFirst(2).allSatisfy { NameEncoding.hexDigit($0) != nil }
    }

    private static func cut(_ spelling: [UInt8], to keptLength: Int) -> [UInt8] {
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
        if isCut(to: Self.maximumLength) { return .cut }
        guard let account = NameEncoding.decode(bytes) else { throw .notCanonical }
        return .key(.blob(account))
    }

    /// Returns the service that the name represents in a class directory.
    package func service(in itemClass: ItemClass) throws(NameError) -> ParsedName<ServiceKey> {
        try checkForm()
        if isCut(to: Self.maximum(itemClass)) { return .cut }
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
        if isCut(to: Self.maximumLength) { return .cut }
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
