// The constants that the cases use, as Apple names them (`SecItemConstants.c`).
let kSecClass = "class"
let kSecClassGenericPassword: Plain = "genp"
let kSecClassInternetPassword: Plain = "inet"

let kSecAttrAccount = "acct"
let kSecAttrService = "svce"
let kSecAttrServer = "srvr"
let kSecAttrProtocol = "ptcl"
let kSecAttrAuthenticationType = "atyp"
let kSecAttrPort = "port"
let kSecAttrPath = "path"
let kSecAttrSecurityDomain = "sdmn"
let kSecAttrAccessGroup = "agrp"
let kSecAttrSynchronizable = "sync"
let kSecAttrSynchronizableAny: Plain = "syna"
let kSecAttrAccessible = "pdmn"
let kSecAttrAccessControl = "accc"
let kSecAttrLabel = "labl"
let kSecAttrComment = "icmt"
let kSecAttrDescription = "desc"
let kSecAttrCreator = "crtr"
let kSecAttrType = "type"
let kSecAttrIsInvisible = "invi"
let kSecAttrGeneric = "gena"
let kSecAttrCreationDate = "cdat"
let kSecAttrModificationDate = "mdat"
let kSecAttrApplicationTag = "atag"

let kSecValueData = "v_Data"
let kSecValueRef = "v_Ref"
let kSecValuePersistentRef = "v_PersistentRef"

let kSecReturnData = "r_Data"
let kSecReturnAttributes = "r_Attributes"
let kSecReturnRef = "r_Ref"
let kSecReturnPersistentRef = "r_PersistentRef"

let kSecMatchLimit = "m_Limit"
let kSecMatchLimitOne: Plain = "m_LimitOne"
let kSecMatchLimitAll: Plain = "m_LimitAll"
let kSecMatchCaseInsensitive = "m_CaseInsensitive"
let kSecMatchSubjectContains = "m_SubjectContains"
let kSecMatchSubjectStartsWith = "m_SubjectStartsWith"
let kSecMatchSubjectEndsWith = "m_SubjectEndsWith"
let kSecMatchSubjectWholeString = "m_SubjectWholeString"
let kSecMatchHostOrSubdomainOfHost = "m_HostOrSubdomainOfHost"

let errSecSuccess: Int32 = 0
let errSecUnimplemented: Int32 = -4
let errSecParam: Int32 = -50
let errSecMissingEntitlement: Int32 = -34018
let errSecDuplicateItem: Int32 = -25299
let errSecItemNotFound: Int32 = -25300
let errSecDataTooLarge: Int32 = -25302
let errSecNoSuchAttr: Int32 = -25303
let errSecNoSuchClass: Int32 = -25306
let errSecInteractionNotAllowed: Int32 = -25308
