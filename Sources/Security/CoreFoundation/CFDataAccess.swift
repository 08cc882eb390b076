internal import Foundation

/// Returns the number of bytes.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public func CFDataGetLength(_ theData: CFData!) -> CFIndex { theData?.length ?? 0 }

/// Returns the address of the first byte. The data owns the memory; the address is valid as long as the data exists.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public func CFDataGetBytePtr(_ theData: CFData!) -> UnsafePointer<UInt8>! {
    unsafe theData?.bytes.assumingMemoryBound(to: UInt8.self)
}

/// Creates data whose bytes are in the memory of the caller.
///
/// - Parameters:
///   - allocator: ignored.
///   - bytes: memory that must exist, unchanged, as long as the data.
///   - length: the number of bytes; nil is returned for a negative number.
///   - bytesDeallocator: ``kCFAllocatorNull`` if the caller releases the memory after the data; with any other, the
///     data releases it with free(3).
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public func CFDataCreateWithBytesNoCopy(
    _ allocator: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex, _ bytesDeallocator: CFAllocator!
) -> CFData! {
    guard length >= 0 else { return nil }
    guard let bytes = unsafe bytes else { return length == 0 ? NSData() : nil }
    return unsafe NSData(
        bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes), length: length,
        freeWhenDone: bytesDeallocator !== kCFAllocatorNull)
}
