public import Foundation

// Methods that Apple's Foundation declares with keys of `NSCopying`. swift-corelibs-foundation declares them with keys
// of `NSObject` or `AnyHashable`, or not at all; its own are preferred where both would match.

extension NSDictionary {
    @_disfavoredOverload
    public convenience init(objects: [Any], forKeys keys: [any NSCopying]) {
        self.init(objects: objects, forKeys: keys.map(\.asKey))
    }
}

extension NSMutableDictionary {
    @_disfavoredOverload
    public func setObject(_ anObject: Any, forKey aKey: any NSCopying) {
        setObject(anObject, forKey: aKey.asKey)
    }

    /// Sets the value of a key; nil removes the key.
    public func setValue(_ value: Any?, forKey key: String) {
        guard let value else { return removeObject(forKey: key) }
        setObject(value, forKey: key)
    }
}

extension NSCopying {
    /// A copy, which a dictionary stores as its key. An object that is not Foundation's equals no other.
    fileprivate var asKey: NSObject { copy(with: nil) as? NSObject ?? NSObject() }
}
