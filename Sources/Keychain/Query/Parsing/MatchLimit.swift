/// kSecMatchLimit: the maximum number of results, and whether the result is an array.
enum MatchLimit: Hashable, Sendable {
    /// A single result, not in an array; also the number 1.
    case one
    case count(Int)
    case all

    /// - Throws: `param` for an invalid limit.
    init(_ value: QueryValue) throws(SecurityStatus) {
        switch (value.string, value.integer) {
        case ("m_LimitOne", _), (_, 1): self = .one
        case ("m_LimitAll", _): self = .all
        case (_, let number?) where number >= 0: self = .count(Int(clamping: number))
        default: throw .param
        }
    }

    var maximum: Int {
        switch self {
        case .one: 1
        case .count(let count): count
        case .all: .max
        }
    }
}
