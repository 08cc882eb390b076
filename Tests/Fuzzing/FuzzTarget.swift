/// A decoder of untrusted bytes, and the properties that must hold for all inputs.
public struct FuzzTarget: Sendable {
    /// The name that the programs and the corpus use.
    public let name: String
    /// The longest input that is tried, in bytes.
    public let limit: Int
    /// The number of inputs in an ordinary run of the tests: fewer if each one creates a keychain.
    public let cases: Int
    /// The words of a text format, for a dictionary.
    public let words: [String]
    private let body: @Sendable ([UInt8]) throws -> Void
    private let examples: @Sendable () throws -> [[UInt8]]

    /// - Parameters:
    /// - examples: inputs built from real values.
    /// - body: decodes; throws a ``Finding`` if a property is violated.
    init(
        _ name: String, limit: Int, cases: Int = 1000, words: [String] = [],
        examples: @escaping @Sendable () throws -> [[UInt8]],
        body: @escaping @Sendable ([UInt8]) throws -> Void
    ) {
        self.name = name
        self.limit = limit
        self.cases = cases
        self.words = words
        self.examples = examples
        self.body = body
    }

    /// Every decoder there is.
    public static let all: [FuzzTarget] = [
        .names, .directoryNames, .attributes, .metadata, .directories, .rows, .storeFile, .log, .secrets, .control,
        .clientAnswers, .options, .oneTimeKeys, .environmentFiles, .credentialRequests, .lists, .requests, .responses,
        .service, .wire,
    ]

    public static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }

    /// Throws what must not be.
    public func run(_ input: [UInt8]) throws { try body(Array(input.prefix(limit))) }

    /// Inputs to begin with.
    public func seeds() throws -> [[UInt8]] { try examples() }
}

/// A property of a decoder that an input violates.
public struct Finding: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Throws a ``Finding`` unless `condition` holds.
func hold(_ condition: Bool, _ what: @autoclosure () -> String) throws {
    guard condition else { throw Finding(what()) }
}
