/// Who calls the four functions with dictionaries: the cases of reference section 8 know nothing else, so that they can run
/// wherever the functions are served.
protocol SecItemClient: Sendable {
    func add(_ attributes: [String: Plain]) -> Answer
    func copyMatching(_ query: [String: Plain]) -> Answer
    func update(_ query: [String: Plain], _ attributes: [String: Plain]) -> Int32
    func delete(_ query: [String: Plain]) -> Int32
    /// The same with other access groups.
    func entitled(_ groups: [String]) -> any SecItemClient
}

/// A status, and what the result pointer holds.
struct Answer: Equatable {
    var status: Int32
    var result: Plain?
}

extension SecItemClient {
    /// One attribute of the one item that matches.
    func attribute(_ key: String, _ query: [String: Plain]) -> Plain? {
        copyMatching(query.with([kSecReturnAttributes: true])).result?[key]
    }

    /// The secret of the one item that matches.
    func data(_ query: [String: Plain]) -> Plain? { copyMatching(query.with([kSecReturnData: true])).result }

    func reference(_ query: [String: Plain]) -> Plain? {
        copyMatching(query.with([kSecReturnPersistentRef: true])).result
    }

    /// How many items match.
    func count(_ query: [String: Plain]) -> Int {
        copyMatching(query.with([kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll])).result?.count ?? 0
    }

    func status(_ query: [String: Plain]) -> Int32 { copyMatching(query).status }
}

extension [String: Plain] {
    func with(_ other: [String: Plain]) -> [String: Plain] { merging(other) { $1 } }

    func without(_ keys: String...) -> [String: Plain] { filter { !keys.contains($0.key) } }
}
