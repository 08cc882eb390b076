/// What `-o` was given.
package struct MountOptionList: Hashable, Sendable {
    package private(set) var isReadOnly = false

    /// Each text holds options separated by commas; one that is not known is an error.
    package init(_ texts: [String] = []) throws(Failure) {
        for option in texts.flatMap({ $0.split(separator: ",") }) {
            switch option {
            case "ro": isReadOnly = true
            case "rw": isReadOnly = false
            default:
                throw Failure(.usage, "The mount option '\(option)' is not known. This version knows 'ro' and 'rw'.")
            }
        }
    }
}
