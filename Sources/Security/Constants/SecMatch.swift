// The kSecMatch… keys of a search, and the values of ``kSecMatchLimit``. Values are those of Apple's `SecItemConstants.c`.

public nonisolated(unsafe) let kSecMatchLimit: CFString = "m_Limit"
public nonisolated(unsafe) let kSecMatchLimitOne: CFString = "m_LimitOne"
public nonisolated(unsafe) let kSecMatchLimitAll: CFString = "m_LimitAll"
/// Compares all text attributes except the access group without regard to case.
public nonisolated(unsafe) let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"
public nonisolated(unsafe) let kSecMatchHostOrSubdomainOfHost: CFString = "m_HostOrSubdomainOfHost"

// Conditions on subjects. Applied to the label of passwords.
public nonisolated(unsafe) let kSecMatchSubjectContains: CFString = "m_SubjectContains"
public nonisolated(unsafe) let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"
public nonisolated(unsafe) let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"
public nonisolated(unsafe) let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"

// Certificates, and Apple's older keychain.
public nonisolated(unsafe) let kSecMatchPolicy: CFString = "m_Policy"
public nonisolated(unsafe) let kSecMatchItemList: CFString = "m_ItemList"
public nonisolated(unsafe) let kSecMatchSearchList: CFString = "m_SearchList"
public nonisolated(unsafe) let kSecMatchIssuers: CFString = "m_Issuers"
public nonisolated(unsafe) let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"
public nonisolated(unsafe) let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"
public nonisolated(unsafe) let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"
public nonisolated(unsafe) let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"
public nonisolated(unsafe) let kSecMatchValidOnDate: CFString = "m_ValidOnDate"
