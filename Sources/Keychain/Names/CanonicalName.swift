import SecretCrypto

/// The one file name of a key: an account within its service, a service within its class, an access group.
///
/// A spelling over 255 bytes is cut on a character or `%XX` boundary at or below 221 bytes and ends in `%~` and 32 hex
/// digits: the unkeyed BLAKE2b-128 of the whole spelling. Look-up tags are made of this name, so that a cut name finds
/// its row as a whole one does.
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

    /// Whether the key cannot be told from the name.
    package var isCut: Bool { Self.isCut(bytes) }

    /// Whether a name has the form of a cut one: no whole spelling has.
    package static func isCut(_ name: [UInt8]) -> Bool {
        let tail = hashLength * 2 + 2
        // A character or `%XX` that does not fit any more has four bytes at most.
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

/// What a typed name stands for.
package enum ParsedName<Key: Hashable & Sendable>: Hashable, Sendable {
    case key(Key)
    /// A name that had to be cut: only the store knows its key.
    case cut
}

/// Why a typed name is refused.
package enum NameError: Error, Hashable, Sendable {
    /// Not the one spelling of any key.
    case notCanonical
    /// Holds bytes that are not UTF-8.
    case notUTF8
}

extension CanonicalName {
    /// A name as somebody typed it, checked to be what ``init(account:)`` or ``init(service:)`` would make.
    package init(typed bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The account that the name stands for.
    package func account() throws(NameError) -> ParsedName<AttributeValue> {
        try checkForm()
        if isCut { return .cut }
        guard let account = NameEncoding.decode(bytes) else { throw .notCanonical }
        return .key(.blob(account))
    }

    /// The service that the name stands for in a class directory.
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

    /// The access group that the name stands for: text, and not the one that the root of the mount shows.
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
