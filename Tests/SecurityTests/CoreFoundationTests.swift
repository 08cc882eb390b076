import Foundation
import Security
import Testing

@Suite("functions of Core Foundation")
struct CoreFoundationTests {
    private func address(of object: AnyObject) -> UnsafeMutableRawPointer {
        Unmanaged.passUnretained(object).toOpaque()
    }

    @Test("a dictionary: values by equal keys, replaced, kept after the caller's references")
    func dictionary() {
        let dictionary: CFMutableDictionary = CFDictionaryCreateMutable(kCFAllocatorDefault, 0, nil, nil)
        let (key, equalKey) = (NSMutableString(string: "key"), NSString(string: "key"))
        weak var weakValue: NSObject?
        do {
            let value = NSObject()
            weakValue = value
            CFDictionarySetValue(dictionary, address(of: key), address(of: value))
        }
        #expect(weakValue != nil && dictionary["key"] as AnyObject === weakValue)
        CFDictionarySetValue(dictionary, address(of: equalKey), address(of: kCFBooleanTrue))
        #expect(dictionary.count == 1 && dictionary["key"] as? Bool == true && weakValue == nil)
        withExtendedLifetime((key, equalKey)) {}
    }

    @Test("a dictionary: no dictionary, key or value, and an object that cannot be a key")
    func dictionaryWithout() {
        final class Other {}
        let dictionary: CFMutableDictionary = CFDictionaryCreateMutable(nil, -1, nil, nil)
        let key = address(of: kSecClass)
        CFDictionarySetValue(nil, key, key)
        CFDictionarySetValue(dictionary, nil, key)
        CFDictionarySetValue(dictionary, key, nil)
        let other = Other()
        CFDictionarySetValue(dictionary, address(of: other), key)
        #expect(dictionary.count == 0)
        withExtendedLifetime(other) {}
    }

    @Test(
        "data without a copy: kCFAllocatorNull leaves the memory to the caller, any other releases it",
        arguments: [true, false])
    func uncopiedData(isLeft: Bool) throws {
        // Memory of this size has its own mapping, which free(3) removes.
        let size = 64 << 20
        let memory = try #require(malloc(size))
        let bytes = memory.bindMemory(to: UInt8.self, capacity: size)
        bytes[size - 1] = 7
        var data: CFData? = CFDataCreateWithBytesNoCopy(
            nil, bytes, size, isLeft ? kCFAllocatorNull : kCFAllocatorDefault)
        #expect(CFDataGetLength(data) == size && CFDataGetBytePtr(data) == UnsafePointer(bytes))
        data = nil
        let page = UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: memory) & ~4095)
        #expect((msync(page, 4096, MS_ASYNC) == 0) == isLeft)
        if isLeft { free(memory) }
    }

    @Test("data: lengths of 0 and below, and no data")
    func dataWithout() {
        #expect(CFDataGetLength(CFDataCreateWithBytesNoCopy(nil, nil, 0, kCFAllocatorNull)) == 0)
        #expect(CFDataCreateWithBytesNoCopy(nil, nil, 1, kCFAllocatorNull) == nil)
        #expect(CFDataCreateWithBytesNoCopy(nil, [1], -1, kCFAllocatorNull) == nil)
        #expect(CFDataGetLength(nil) == 0 && CFDataGetBytePtr(nil) == nil)
    }

    @Test(
        "the bytes of data that was a Data, also of one that fits into the value itself", arguments: [1, 14, 15, 1000])
    func bridgedData(size: Int) throws {
        let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0) }) as CFData
        let start = try #require(CFDataGetBytePtr(data))
        #expect(Data(UnsafeBufferPointer(start: start, count: CFDataGetLength(data))) == data as Data)
    }

    @Test("strings count UTF-16 code units; booleans; none of either")
    func values() {
        #expect(CFStringGetLength("aé🔑" as CFString) == 4 && CFStringGetLength(nil) == 0)
        #expect(CFBooleanGetValue(kCFBooleanTrue) && !CFBooleanGetValue(kCFBooleanFalse) && !CFBooleanGetValue(nil))
        let codes: FourCharCode = 0x6B63_6673
        let creator: OSType = codes
        #expect(creator == codes && Set([1, 2]) as CFSet == NSSet(array: [1, 2]))
    }
}
