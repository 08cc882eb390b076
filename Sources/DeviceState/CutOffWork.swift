import SystemPackage
import SystemServices

/// What commands have left that were killed in the middle, as far as it concerns one keychain that is about to be used.
package struct CutOffWork {
    private let path: FilePath
    private let locations: Locations

    /// `path`: of the keychain; links are followed, as what was left lies beside the file itself.
    package init(of path: String, locations: Locations) {
        self.path = FilePath(Locations.absolute(path))
        self.locations = locations
    }

    /// Whether a restore has kept the keychain's log aside, and with it what was committed last.
    package var hasTakenLog: Bool { ReplacedKeychain.cutOff(of: path.string) != nil }

    /// Undoes a restore that did not come to its end, and removes files that were never finished.
    package func undo() {
        ReplacedKeychain.cutOff(of: path.string)?.undo()
        removeDrafts()
    }

    /// Removes what nobody is at work on any more.
    package func removeDrafts() {
        for directory in [path.removingLastComponent(), FilePath(locations.stateDirectory)] {
            Drafts(in: directory).removeLeftovers()
        }
    }
}
