import LinuxSupport
import SystemPackage

/// Files that killed commands have left for one keychain, which is about to be used.
package struct InterruptedOperations {
    private let path: FilePath
    private let locations: DefaultPaths

    /// - Parameter path: The path of the keychain. Symbolic links are followed, because the files are next to the
    ///   target.
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

    /// Undoes an interrupted restore, and removes temporary files.
    package func undo() {
        ReplacedKeychain.interrupted(of: path.string)?.undo()
        removeDrafts()
    }

    /// Removes temporary files to which no process writes.
    package func removeDrafts() {
        for directory in [path.removingLastComponent(), FilePath(locations.stateDirectory)] {
            TemporaryFiles(in: directory).removeLeftovers()
        }
    }
}
