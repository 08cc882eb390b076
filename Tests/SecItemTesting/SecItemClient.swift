/// A caller of the four functions with dictionaries. The cases of reference section 8 use only this protocol, so that
/// they run with every implementation of the functions.
package protocol SecItemClient: Sendable {
    func add(_ attributes: [String: PlainValue]) -> Answer
    func copyMatching(_ query: [String: PlainValue]) -> Answer
    func update(_ query: [String: PlainValue], _ attributes: [String: PlainValue]) -> Int32
    func delete(_ query: [String: PlainValue]) -> Int32
    /// A client with other access groups.
    func entitled(_ groups: [String]) -> any SecItemClient
}

/// A status, and the value of the result pointer.
package struct Answer: Equatable {
    package var status: Int32
    package var result: PlainValue?

    package init(status: Int32, result: PlainValue? = nil) {
        self.status = status
        self.result = result
    }
}

extension SecItemClient {
    /// An attribute of the only matching item.
    package func attribute(_ key: String, _ query: [String: PlainValue]) -> PlainValue? {
        copyMatching(query.with([kSecReturnAttributes: true])).result?[key]
    }

    /// The secret of the one item that matches.
    package func data(_ query: [String: PlainValue]) -> PlainValue? {
        copyMatching(query.with([kSecReturnData: true])).result
    }

    package func reference(_ query: [String: PlainValue]) -> PlainValue? {
        copyMatching(query.with([kSecReturnPersistentRef: true])).result
    }

    /// The number of matching items.
    package func count(_ query: [String: PlainValue]) -> Int {
        copyMatching(query.with([kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll])).result?.count ?? 0
    }

    package func status(_ query: [String: PlainValue]) -> Int32 { copyMatching(query).status }
}

extension [String: PlainValue] {
    package func with(_ other: [String: PlainValue]) -> [String: PlainValue] { merging(other) { $1 } }

    package func without(_ keys: String...) -> [String: PlainValue] { filter { !keys.contains($0.key) } }
}
