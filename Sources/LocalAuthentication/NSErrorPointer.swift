public import Foundation

/// The place for the error of a function that reports success as a Boolean. Declared by Foundation on Apple's systems.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
