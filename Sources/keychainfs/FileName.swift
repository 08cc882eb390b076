import ArgumentParser

/// Refuses the name of a file that is empty, or `-`, which means standard input or output to users of other programs.
///
/// - Parameter what: The file in a message: "backup".
func requireFileName(_ name: String?, of what: String) throws {
    if name?.isEmpty == true { throw ValidationError("The name of the \(what) is empty.") }
    if name == "-" {
        throw ValidationError("The \(what) must be a file, not standard input or output. './-' is a file named '-'.")
    }
}
