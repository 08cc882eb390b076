// The kSecValue… keys: the secret of an item, and references to items.

public nonisolated(unsafe) let kSecValueData: CFString = "v_Data"
/// Refused with errSecParam, because passwords have no object references.
public nonisolated(unsafe) let kSecValueRef: CFString = "v_Ref"
public nonisolated(unsafe) let kSecValuePersistentRef: CFString = "v_PersistentRef"
