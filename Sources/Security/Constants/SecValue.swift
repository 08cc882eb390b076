// What an item holds, or is found by.

public nonisolated(unsafe) let kSecValueData: CFString = "v_Data"
/// Refused (errSecParam): a password has none.
public nonisolated(unsafe) let kSecValueRef: CFString = "v_Ref"
public nonisolated(unsafe) let kSecValuePersistentRef: CFString = "v_PersistentRef"
