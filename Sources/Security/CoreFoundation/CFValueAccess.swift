internal import Foundation

/// Returns the number of UTF-16 code units.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public func CFStringGetLength(_ theString: CFString!) -> CFIndex { theString?.length ?? 0 }

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public func CFBooleanGetValue(_ boolean: CFBoolean!) -> Bool { boolean?.boolValue ?? false }
