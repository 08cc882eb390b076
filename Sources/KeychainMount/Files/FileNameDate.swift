import Foundation

/// Dates in the names of files that are kept aside: `20261121T054408Z`.
enum FileNameDate {
    static var now: String { String(Date().formatted(.iso8601).filter { !"-:".contains($0) }) }
}
