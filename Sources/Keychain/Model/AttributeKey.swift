/// An attribute of an item (`kSecAttr…`).
///
/// Raw values are part of the store format: never renumbered, never reused.
package enum AttributeKey: UInt8, CaseIterable, Hashable, Sendable {
    case account = 1
    case service = 2
    case server = 3
    case securityDomain = 4
    case `protocol` = 5
    case authenticationType = 6
    case port = 7
    case path = 8
    case accessGroup = 9
    case synchronizable = 10
    case accessible = 11
    case creationDate = 12
    case modificationDate = 13
    case label = 14
    case alias = 15
    case description = 16
    case comment = 17
    case creator = 18
    case type = 19
    case scriptCode = 20
    case isInvisible = 21
    case isNegative = 22
    case hasCustomIcon = 23
    case generic = 24
    case persistentReference = 25
    case uuid = 26
    case sha1 = 27
    case tombstone = 28
    case tokenID = 29
    case syncViewHint = 30
    case multiUser = 31
    case sharingGroup = 32
    case accessControl = 33
}

/// The type of an attribute's value, and its coercion (`SecItemSchema.c`).
package enum AttributeKind: Hashable, Sendable {
    /// Text or data, unchanged.
    case blob
    /// Text.
    case string
    /// Always data.
    case data
    /// A number; text that is not a decimal integer stays text.
    case number
    /// 0 or 1.
    case boolean
    case date
    /// A ``ProtectionClass``.
    case protection
    /// A protocol constant, another text, or a number.
    case internetProtocol
    /// An authentication type constant, or another text.
    case authenticationType
}

/// The party that sets an attribute, and its meaning.
package enum AttributeRole: Hashable, Sendable {
    /// A part of the primary key, which determines the item's path.
    case primaryKey
    /// Set by the owner of the item.
    case caller
    /// The protection class, which determines the key that seals the item.
    case protection
    /// Maintained by the system; callers can only read it.
    case system
    /// A part of Apple's primary key that is not supported here: setting it is errSecParam.
    case refused
}

/// A row of the attribute table.
package struct AttributeDefinition: Hashable, Sendable {
    /// The constant's name, `kSecAttrAccount`.
    package let name: String
    /// The constant's value, `acct`.
    package let code: String
    package let kind: AttributeKind
    package let role: AttributeRole
    /// The item classes that have the attribute.
    package let classes: Set<ItemClass>
}

extension AttributeKey {
    /// Whether an item's row can contain the attribute, in addition to those with their own field: attributes that
    /// callers set, and the flags of an access control (`SecAccessControlCreateFlags`, never 0), which only the SecItem
    /// API sets.
    func isStored(as value: AttributeValue) -> Bool {
        guard self == .accessControl else { return definition.role == .caller }
        guard case .number(let flags) = value else { return false }
        return flags > 0
    }
}

extension AttributeKey {
    package var definition: AttributeDefinition { Self.table[self] ?? Self.unknown }

    /// Returns the attribute with that constant's name; nil if `itemClass` does not have it.
    package static func named(_ name: String, in itemClass: ItemClass) -> AttributeKey? {
        byName[name].flatMap { $0.definition.classes.contains(itemClass) ? $0 : nil }
    }

    private static let unknown = AttributeDefinition(name: "", code: "", kind: .data, role: .system, classes: [])
    private static let byName = Dictionary(table.map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })

    private static let table: [AttributeKey: AttributeDefinition] = {
        let both: Set<ItemClass> = [.genericPassword, .internetPassword]
        let genp: Set<ItemClass> = [.genericPassword]
        let inet: Set<ItemClass> = [.internetPassword]
        let rows: [(AttributeKey, String, String, AttributeKind, AttributeRole, Set<ItemClass>)] = [
            (.account, "Account", "acct", .blob, .primaryKey, both),
            (.service, "Service", "svce", .blob, .primaryKey, genp),
            (.server, "Server", "srvr", .blob, .primaryKey, inet),
            (.securityDomain, "SecurityDomain", "sdmn", .blob, .primaryKey, inet),
            (.protocol, "Protocol", "ptcl", .internetProtocol, .primaryKey, inet),
            (.authenticationType, "AuthenticationType", "atyp", .authenticationType, .primaryKey, inet),
            (.port, "Port", "port", .number, .primaryKey, inet),
            (.path, "Path", "path", .blob, .primaryKey, inet),
            (.accessGroup, "AccessGroup", "agrp", .string, .primaryKey, both),
            (.synchronizable, "Synchronizable", "sync", .boolean, .primaryKey, both),
            (.accessible, "Accessible", "pdmn", .protection, .protection, both),
            (.accessControl, "AccessControl", "accc", .number, .system, both),
            (.creationDate, "CreationDate", "cdat", .date, .system, both),
            (.modificationDate, "ModificationDate", "mdat", .date, .system, both),
            (.label, "Label", "labl", .blob, .caller, both),
            (.alias, "Alias", "alis", .blob, .caller, both),
            (.description, "Description", "desc", .blob, .caller, both),
            (.comment, "Comment", "icmt", .blob, .caller, both),
            (.creator, "Creator", "crtr", .number, .caller, both),
            (.type, "Type", "type", .number, .caller, both),
            (.scriptCode, "ScriptCode", "scrp", .number, .caller, both),
            (.isInvisible, "IsInvisible", "invi", .boolean, .caller, both),
            (.isNegative, "IsNegative", "nega", .boolean, .caller, both),
            (.hasCustomIcon, "HasCustomIcon", "cusi", .boolean, .caller, both),
            (.generic, "Generic", "gena", .data, .caller, genp),
            (.persistentReference, "PersistentReference", "persistref", .data, .system, both),
            (.uuid, "UUID", "UUID", .string, .system, both),
            (.sha1, "SHA1", "sha1", .data, .system, both),
            (.tombstone, "Tombstone", "tomb", .boolean, .system, both),
            (.tokenID, "TokenID", "tkid", .string, .refused, both),
            (.syncViewHint, "SyncViewHint", "vwht", .string, .refused, both),
            (.multiUser, "MultiUser", "musr", .data, .refused, both),
            (.sharingGroup, "SharingGroup", "ggrp", .string, .refused, both),
        ]
        return Dictionary(
            uniqueKeysWithValues: rows.map { key, name, code, kind, role, classes in
                let name = "kSecAttr" + name
                return (key, AttributeDefinition(name: name, code: code, kind: kind, role: role, classes: classes))
            })
    }()
}
