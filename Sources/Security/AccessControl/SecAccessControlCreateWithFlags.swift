public import Foundation

/// Creates a value of ``kSecAttrAccessControl``.
///
/// - Parameters:
///   - allocator: ignored.
///   - protection: one of the kSecAttrAccessible constants.
///   - flags: see ``SecAccessControlCreateFlags``.
///   - failure: set to an error with the code ``errSecParam`` if the function returns nil. The caller owns the error
///     (`takeRetainedValue`).
/// - Returns: nil if `protection` is not such a constant or the flags contradict each other. Flags that this system cannot
///   enforce are accepted here, as on Apple's systems; ``SecItemAdd(_:_:)`` and ``SecItemUpdate(_:_:)`` refuse them.
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags,
    _ failure: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
    do throws(SecAccessControlError) {
        return try SecAccessControl(protection: protection, checking: flags)
    } catch {
        unsafe failure?.pointee = Unmanaged.passRetained(error.object)
        return nil
    }
}
