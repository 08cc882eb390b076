internal import Foundation

public func CFErrorGetDomain(_ err: CFError) -> CFString! { NSString(string: err.domain) }
public func CFErrorGetCode(_ err: CFError) -> CFIndex { err.code }
public func CFErrorCopyUserInfo(_ err: CFError) -> CFDictionary! { NSDictionary(dictionary: err.userInfo) }
public func CFErrorCopyDescription(_ err: CFError) -> CFString! { NSString(string: err.localizedDescription) }
