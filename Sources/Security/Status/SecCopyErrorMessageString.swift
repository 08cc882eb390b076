public import Foundation
import Glibc

/// Returns the meaning of a status, in English.
///
/// - Parameter reserved: ignored.
/// - Returns: the text of the status; for 100000 and more the system's text of that errno; otherwise its number.
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    if let message = SecErrorMessages.byStatus[status] { return NSString(string: message) }
    if posixStatuses.contains(status) {
        return NSString(string: "UNIX[\(systemMessage(Int32(status - posixStatuses.lowerBound)))]")
    }
    return NSString(string: "OSStatus \(status)")
}

private let posixStatuses: ClosedRange<OSStatus> = 100_000...100_255

private func systemMessage(_ errno: Int32) -> String {
    var text = [CChar](repeating: 0, count: 256)
    guard unsafe strerror_r(errno, &text, text.count) == 0 else { return "\(errno)" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
