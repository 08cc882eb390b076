/// The kSecMatch… keys except the limit.
///
/// Except for certificates, Apple's data-protection keychain ignores the matches of subjects. Here they apply to the
/// label of a password.
struct MatchFilter: Hashable, Sendable {
    enum Subject: String, Hashable, Sendable {
        case contains = "m_SubjectContains"
        case startsWith = "m_SubjectStartsWith"
        case endsWith = "m_SubjectEndsWith"
        case entire = "m_SubjectWholeString"
    }

    /// kSecMatchCaseInsensitive: text attributes are compared ignoring case, except the access group.
    private(set) var isCaseInsensitive = false
    /// kSecMatchHostOrSubdomainOfHost, as UTF-8.
    private(set) var host: [UInt8]?
    private(set) var subjects: [Subject: String] = [:]

    init() {}

    /// Parses the kSecMatch… keys of a dictionary, except the limit.
    ///
    /// - Throws: `param` for a value of a wrong type and for lists of items, `unimplemented` for keys that the class does
    ///   not support. Unknown keys are ignored.
    init(_ keys: QueryDictionary, for itemClass: ItemClass) throws(SecurityStatus) {
        for (key, value) in keys.sorted(by: { $0.key < $1.key }) { try add(key, value, for: itemClass) }
    }

    private mutating func add(_ key: String, _ value: QueryValue, for itemClass: ItemClass) throws(SecurityStatus) {
        if let subject = Subject(rawValue: key) {
            subjects[subject] = try Self.string(value)
            return
        }
        switch key {
        case "m_CaseInsensitive": isCaseInsensitive = try Self.boolean(value)
        case "m_DiacriticInsensitive", "m_WidthInsensitive":
            if try Self.boolean(value) { throw .unimplemented }
        case "m_HostOrSubdomainOfHost":
            guard itemClass == .internetPassword else { throw .unimplemented }
            host = Array(try Self.string(value).utf8)
        case "m_Issuers", "m_Policy": throw .unimplemented
        case "m_EmailAddressIfPresent": _ = try Self.string(value)
        case "m_TrustedOnly": _ = try Self.boolean(value)
        case "m_ValidOnDate": try Self.checkDate(value)
        // Ignoring them would return more items than requested.
        case "m_ItemList", "m_SearchList": throw .param
        default: break
        }
    }

    private static func string(_ value: QueryValue) throws(SecurityStatus) -> String {
        guard let string = value.string else { throw .param }
        return string
    }

    private static func boolean(_ value: QueryValue) throws(SecurityStatus) -> Bool {
        guard case .boolean(let flag) = value else { throw .param }
        return flag
    }

    /// A date, or CFNull for the present time.
    private static func checkDate(_ value: QueryValue) throws(SecurityStatus) {
        switch value {
        case .date, .null: break
        default: throw .param
        }
    }
}
