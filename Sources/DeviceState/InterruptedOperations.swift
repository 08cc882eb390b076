import LinuxSupport
import SystemPackage

/// What commands have left that were killed in the middle, as far as it concerns one keychain that is about to be used.
package struct InterruptedOperations {
    private let path: FilePath
    private let locations: DefaultPaths

    /// `path`: of the keychain; links are followed, as what was left lies beside the file itself.
    package init(of path: String, locations: DefaultPaths) {
        self.path = FilePath(DefaultPaths.absolute(path))
        self.locations = locations
    }

    /// The path of the keychain's log, which an interrupted restore may have moved.
    package var log: String {
        ReplacedKeychain.interrupted(of: path.string)?.presentLog ?? SQLiteFileNames.log(of: path.string)
    }

    /// Whether an interrupted restore may have moved the log, and with it the newest transactions.
    package var hasMovedLog: Bool { ReplacedKeychain.interrupted(of: path.string) != nil }

    /// Undoes a restore that did not come to its end, and removes files that were never finished.
    package func undo() {
        ReplacedKeychain.interrupted(of: path.string)?.undo()
        removeDrafts()
    }

    /// Removes what nobody is at work on any more.
    package func removeDrafts() {
        for directory in [path.removingLastComponent(), FilePath(locations.stateDirectory)] {
            TemporaryFiles(in: directory).removeLeftovers()
        }
    }
}
