package import Keychain
import KeychainConnection
import KeychainRPC

/// `keychainfs search`: the items of a mounted keychain that have all of the given attributes.
package struct ItemFinder: Sendable {
    private let mountPoint: String
    private let terms: [SearchTerm]
    /// Words that the path, label or comment of an item must contain.
    private let words: SearchWords
    private let classes: [ItemClass]
    private let ignoresCase: Bool

    /// Creates a search.
    ///
    /// - Parameters:
    ///   - terms: Each `ATTRIBUTE=VALUE` (``SearchTerm``) or a word (``SearchWords``).
    ///   - itemClass: The only item class to search; nil for every class that has all these attributes.
    package init(
        mountPoint: String, terms: [String], itemClass: ItemClass? = nil, ignoresCase: Bool = false
    ) throws(CLIError) {
        self.mountPoint = mountPoint
        self.ignoresCase = ignoresCase
        let (terms, words) = try Self.parse(terms)
        self.words = SearchWords(words)
        classes = (itemClass.map { [$0] } ?? ItemClass.allCases).filter { itemClass in
            terms.allSatisfy { $0.belongs(to: itemClass) }
        }
        self.terms = terms
        guard !classes.isEmpty else {
            throw CLIError(.usage, "No class of items has all of these attributes.")
        }
    }

    /// Returns the items in the order of their creation, class by class.
    ///
    /// - Throws: `notFound` if no item matches; `locked` if an item that may match is locked.
    package func find() throws(CLIError) -> SearchResult {
        let connection = MountConnection { [mountPoint] in mountPoint }
        var items: [FoundItem] = []
        for itemClass in classes { items += try find(itemClass, over: connection) }
        guard !items.isEmpty else {
            throw CLIError(.notFound, "No item in the keychain at \(mountPoint) matches.")
        }
        return SearchResult(items: items)
    }

    private func find(_ itemClass: ItemClass, over connection: MountConnection) throws(CLIError) -> [FoundItem] {
        let request = ItemRequest(.copyMatching, query: try query(itemClass), accessGroups: ["*"])
        var items: [FoundItem] = []
        let status = connection.perform(request, secret: RawSpan()) { frame in
            let found = frame.entries.compactMap { FoundItem($0, itemClass, mountPoint: mountPoint) }
            items += found.filter { words.match($0) }
        }
        switch status {
        case 0: return items
        case SecurityStatus.itemNotFound.rawValue: return []
        default: throw failure(status)
        }
    }

    private func query(_ itemClass: ItemClass) throws(CLIError) -> [String: PropertyList] {
        var query: [String: PropertyList] = [
            "class": .string(itemClass.code), "sync": .string("syna"), "m_Limit": .string("m_LimitAll"),
            "r_Attributes": .boolean(true),
        ]
        if ignoresCase { query["m_CaseInsensitive"] = .boolean(true) }
        for term in terms {
            do throws(SearchTerm.ParseError) {
                query[term.key.definition.code] = try term.value()
            } catch {
                throw CLIError(error)
            }
        }
        return query
    }

    private func failure(_ status: Int32) -> CLIError {
        switch status {
        case SecurityStatus.interactionNotAllowed.rawValue:
            return CLIError(
                .locked, "Items of the keychain at \(mountPoint) are locked. Unlock it with 'keychainfs unlock'.")
        case ConnectionStatus.notAvailable, ConnectionStatus.missingEntitlement:
            do throws(CLIError) {
                try MountClient(mountPoint: mountPoint, owner: .named(nil)).checkOwner()
            } catch {
                return error
            }
            return CLIError(
                .failure, "The daemon of \(mountPoint) does not support searches. It may have an older version.")
        case SecurityStatus.decode.rawValue:
            return CLIError(
                .damaged,
                "The keychain at \(mountPoint) is damaged. 'keychainfs check' names everything that is damaged.")
        case SecurityStatus.io.rawValue:
            return CLIError(
                .failure,
                "The disk with the keychain of \(mountPoint) reports an error (Input/output error). Check the disk.")
        case let status:
            return CLIError(.failure, "The search in \(mountPoint) failed with status \(status).")
        }
    }

    private static func parse(_ arguments: [String]) throws(CLIError) -> (terms: [SearchTerm], words: [String]) {
        var terms: [SearchTerm] = []
        var words: [String] = []
        for argument in arguments {
            guard let term = try parse(argument) else {
                guard !argument.isEmpty else { throw CLIError(.usage, "A word of the search is empty.") }
                words.append(argument)
                continue
            }
            guard !terms.contains(where: { $0.key == term.key }) else {
                throw CLIError(.usage, "\(term.name) is given twice. An item has one value of it.")
            }
            terms.append(term)
        }
        return (terms, words)
    }

    private static func parse(_ argument: String) throws(CLIError) -> SearchTerm? {
        do throws(SearchTerm.ParseError) { return try SearchTerm(argument) } catch { throw CLIError(error) }
    }
}

extension CLIError {
    fileprivate init(_ mistake: SearchTerm.ParseError) {
        switch mistake {
        case .unknownAttribute(let name):
            self.init(
                .usage,
                """
                There is no attribute '\(Printable.text(name))' to search for. There are: \
                \(SearchTerm.names.joined(separator: ", ")).
                """)
        case .badValue(let name): self.init(.usage, "\(name) cannot have that value.")
        }
    }
}
