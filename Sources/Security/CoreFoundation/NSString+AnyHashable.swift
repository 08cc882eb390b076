import Foundation

extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
    /// Returns the `AnyHashable` of its `String`, as on Apple's systems: a result of type `[AnyHashable: Any]` can be
    /// indexed with a constant.
    public func _toCustomAnyHashable() -> AnyHashable? { AnyHashable(self as String) }
}
