public import Foundation

// What Apple's Foundation declares with keys of `NSCopying` and swift-corelibs-foundation with keys of `NSObject` or
// `AnyHashable`, or not at all. The latter's own are preferred where both would do.

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

    /// Nil removes the key.
    public func setValue(_ value: Any?, forKey key: String) {
        guard let value else { return removeObject(forKey: key) }
        setObject(value, forKey: key)
    }
}

extension NSCopying {
    /// A copy, as a dictionary keeps. What is no object of Foundation's is equal to nothing else.
    fileprivate var asKey: NSObject { copy(with: nil) as? NSObject ?? NSObject() }
}
