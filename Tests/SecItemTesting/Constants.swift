// The constants that the cases use, as Apple names them (`SecItemConstants.c`).
package let kSecClass = "class"
package let kSecClassGenericPassword: PlainValue = "genp"
package let kSecClassInternetPassword: PlainValue = "inet"

package let kSecAttrAccount = "acct"
package let kSecAttrService = "svce"
package let kSecAttrServer = "srvr"
package let kSecAttrProtocol = "ptcl"
package let kSecAttrAuthenticationType = "atyp"
package let kSecAttrPort = "port"
package let kSecAttrPath = "path"
package let kSecAttrSecurityDomain = "sdmn"
package let kSecAttrAccessGroup = "agrp"
package let kSecAttrSynchronizable = "sync"
package let kSecAttrSynchronizableAny: PlainValue = "syna"
package let kSecAttrAccessible = "pdmn"
package let kSecAttrAccessControl = "accc"
package let kSecAttrLabel = "labl"
package let kSecAttrComment = "icmt"
package let kSecAttrDescription = "desc"
package let kSecAttrCreator = "crtr"
package let kSecAttrType = "type"
package let kSecAttrIsInvisible = "invi"
package let kSecAttrGeneric = "gena"
package let kSecAttrCreationDate = "cdat"
package let kSecAttrModificationDate = "mdat"
package let kSecAttrApplicationTag = "atag"

package let kSecValueData = "v_Data"
package let kSecValueRef = "v_Ref"
package let kSecValuePersistentRef = "v_PersistentRef"

package let kSecReturnData = "r_Data"
package let kSecReturnAttributes = "r_Attributes"
package let kSecReturnRef = "r_Ref"
package let kSecReturnPersistentRef = "r_PersistentRef"

package let kSecMatchLimit = "m_Limit"
package let kSecMatchLimitOne: PlainValue = "m_LimitOne"
package let kSecMatchLimitAll: PlainValue = "m_LimitAll"
package let kSecMatchCaseInsensitive = "m_CaseInsensitive"
package let kSecMatchSubjectContains = "m_SubjectContains"
package let kSecMatchSubjectStartsWith = "m_SubjectStartsWith"
package let kSecMatchSubjectEndsWith = "m_SubjectEndsWith"
package let kSecMatchSubjectWholeString = "m_SubjectWholeString"
package let kSecMatchHostOrSubdomainOfHost = "m_HostOrSubdomainOfHost"

package let errSecSuccess: Int32 = 0
package let errSecUnimplemented: Int32 = -4
package let errSecParam: Int32 = -50
package let errSecMissingEntitlement: Int32 = -34018
package let errSecDuplicateItem: Int32 = -25299
package let errSecItemNotFound: Int32 = -25300
package let errSecDataTooLarge: Int32 = -25302
package let errSecNoSuchAttr: Int32 = -25303
package let errSecNoSuchClass: Int32 = -25306
package let errSecInteractionNotAllowed: Int32 = -25308
