/// Who calls the four functions with dictionaries: the cases of reference section 8 know nothing else, so that they can run
/// wherever the functions are served.
package protocol SecItemClient: Sendable {
    func add(_ attributes: [String: Plain]) -> Answer
    func copyMatching(_ query: [String: Plain]) -> Answer
    func update(_ query: [String: Plain], _ attributes: [String: Plain]) -> Int32
    func delete(_ query: [String: Plain]) -> Int32
    /// The same with other access groups.
    func entitled(_ groups: [String]) -> any SecItemClient
}

/// A status, and what the result pointer holds.
package struct Answer: Equatable {
    package var status: Int32
    package var result: Plain?

    package init(status: Int32, result: Plain? = nil) {
        self.status = status
        self.result = result
    }
}

extension SecItemClient {
    /// One attribute of the one item that matches.
    package func attribute(_ key: String, _ query: [String: Plain]) -> Plain? {
        copyMatching(query.with([kSecReturnAttributes: true])).result?[key]
    }

    /// The secret of the one item that matches.
    package func data(_ query: [String: Plain]) -> Plain? { copyMatching(query.with([kSecReturnData: true])).result }

    package func reference(_ query: [String: Plain]) -> Plain? {
        copyMatching(query.with([kSecReturnPersistentRef: true])).result
    }

    /// How many items match.
    package func count(_ query: [String: Plain]) -> Int {
        copyMatching(query.with([kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll])).result?.count ?? 0
    }

    package func status(_ query: [String: Plain]) -> Int32 { copyMatching(query).status }
}

extension [String: Plain] {
    package func with(_ other: [String: Plain]) -> [String: Plain] { merging(other) { $1 } }

    package func without(_ keys: String...) -> [String: Plain] { filter { !keys.contains($0.key) } }
}
