import Foundation

/// Compares the outcome of a step with the expected one, and learns the numbers that symbols represent.
public struct ModelOracle: Sendable {
    private var inodes: [Int: UInt64] = [:]
    private var references: [Int: Data] = [:]
    private var owners: [Data: Int] = [:]
    private var creations: [Int: Data] = [:]
    /// The last ctime that was seen of a file.
    private var changes: [[Int]: Int64] = [:]
    /// The earliest possible time of a change, in seconds since 1970.
    private let earliest: Int64 = 1_600_000_000

    public init() {}

    /// The difference of `outcome` from `expected`, or nil if they are equal.
    public mutating func difference(_ expected: Expectation, _ outcome: Outcome) -> String? {
        switch (expected, outcome) {
        case (.exactly(let wanted), _):
            return wanted == outcome ? nil : "wanted \(wanted.text), got \(outcome.text)"
        case (.status(let wanted), .status(let got)): return difference(wanted, got)
        case (.attributes(let listed, let reference, let created), .attributes(let got)):
            return difference(listed, reference, created, got)
        default: return "wanted \(expected), got \(outcome.text)"
        }
    }

    private mutating func difference(_ wanted: ExpectedStatus, _ got: Status) -> String? {
        if wanted.size != got.size { return "wanted size \(wanted.size), got \(got.size)" }
        if let permissions = wanted.permissions, permissions != got.permissions {
            return "wanted mode \(permissions), got \(got.permissions)"
        }
        if wanted.links != got.links { return "wanted \(wanted.links) links, got \(got.links)" }
        let inode = inodes[wanted.inode, default: got.inode]
        inodes[wanted.inode] = inode
        if inode != got.inode { return "the inode was \(inode) and is \(got.inode)" }
        switch wanted.modified {
        case .at(let time) where time != got.modified: return "wanted mtime \(time), got \(got.modified)"
        case .recently where got.modified < earliest: return "mtime is \(got.modified), which nobody has set"
        default: break
        }
        guard let history = wanted.history else { return nil }
        let last = changes[history, default: got.changed]
        changes[history] = got.changed
        return got.changed < last ? "ctime went back by \(last - got.changed) ns" : nil
    }

    private mutating func difference(
        _ listed: [String: String], _ reference: Int, _ created: Int, _ got: ItemAttributes
    ) -> String? {
        let texts = got.listed.mapValues { String(decoding: $0, as: UTF8.self) }
        if texts != listed {
            return "wanted attributes \(Self.short(listed)), got \(Self.short(texts))"
        }
        let known = references[reference, default: got.reference]
        references[reference] = known
        if known != got.reference { return "another persistent reference than before" }
        let owner = owners[got.reference, default: reference]
        owners[got.reference] = owner
        if owner != reference { return "the persistent reference of another item" }
        let date = creations[created, default: got.created]
        creations[created] = date
        return date == got.created ? nil : "another creation date than before"
    }

    private static func short(_ attributes: [String: String]) -> String {
        let pairs = attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.prefix(12))" }
        return "[\(pairs.joined(separator: " "))]"
    }
}

extension Outcome {
    /// The outcome in readable form.
    var text: String {
        switch self {
        case .done: "success"
        case .failed(let number): "errno \(number)"
        case .bytes(let bytes): "\(bytes.count) bytes (\(Array(bytes.prefix(12))))"
        case .status(let status): "\(status)"
        case .names(let names, let error): "\(names), then \(error.map { "errno \($0)" } ?? "the end")"
        case .attributes(let attributes): "\(attributes.listed.keys.sorted())"
        }
    }
}
