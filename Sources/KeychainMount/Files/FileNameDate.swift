import DeviceState
import Foundation
import Keychain
import KeychainTree
import LinuxSupport

/// Dates in the names of preserved files, in UTC: `20261121T054408Z`.
enum FileNameDate {
    /// Returns the present time, with a number appended if a file with `prefix` and that time exists.
    static func free(after prefix: String) -> String {
        let date = now
        let names = [date] + (2...999).map { "\(date)-\($0)" }
        return names.first { name in
            [prefix + name, SQLiteFileNames.log(of: prefix + name)].allSatisfy {
                (try? FileManager.default.attributesOfItem(atPath: $0)) == nil
            }
        } ?? date
    }

    private static var now: String { text(of: KeychainDate.now) }

    /// Returns a date as text, without Foundation's formatter, which looks up the time zone in the data of ICU.
    static func text(of date: KeychainDate) -> String {
        DateText.encode(KeychainDate(seconds: date.seconds)).filter { !"-:".contains($0) }
    }
}
