/// The error of a copy, with the file of which it is.
package enum CopyError<Cause: Error>: Error {
    case source(Cause)
    case copy(Cause)

    package var cause: Cause {
        switch self {
        case .source(let cause), .copy(let cause): cause
        }
    }
}

extension CopyError: Equatable where Cause: Equatable {}
