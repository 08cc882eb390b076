import Foundation
import SystemServices

/// Dates in the names of files that are kept aside: `20261121T054408Z`.
enum FileNameDate {
    /// Now; with a number behind it if something is called `prefix` and that already.
    static func free(after prefix: String) -> String {
        let date = now
        let names = [date] + (2...999).map { "\(date)-\($0)" }
        return names.first { name in
            [prefix + name, DatabaseFiles.log(of: prefix + name)].allSatisfy {
                (try? FileManager.default.attributesOfItem(atPath: $0)) == nil
            }
        } ?? date
    }

    private static var now: String { String(Date().formatted(.iso8601).filter { !"-:".contains($0) }) }
}
