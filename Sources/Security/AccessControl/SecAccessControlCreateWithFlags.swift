public import Foundation

/// An object for ``kSecAttrAccessControl``.
///
/// - Parameters:
///   - allocator: not looked at.
///   - protection: one of the kSecAttrAccessible constants.
///   - flags: see ``SecAccessControlCreateFlags``.
///   - failure: where it is given, set to an error of the caller's to release (`takeRetainedValue`) when there is no object.
/// - Returns: nil, with ``errSecParam``, for what is no protection class and for flags that contradict each other; nil, with
///   ``errSecUnimplemented``, for flags that need what this system does not have.
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags,
    _ failure: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
    do throws(SecAccessControlRefusal) {
        return try SecAccessControl(protection: protection, checking: flags)
    } catch {
        unsafe failure?.pointee = Unmanaged.passRetained(error.object)
        return nil
    }
}
