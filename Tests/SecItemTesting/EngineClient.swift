package import Keychain
internal import SecretCrypto
import Synchronization

/// The four functions answered by the engine itself.
package struct EngineClient: SecItemClient {
    package let engine: QueryEngine
    private var groups = ["default"]
    /// The changes of the last call.
    package let changes: LastChanges

    package init(engine: QueryEngine, changes: LastChanges = LastChanges()) {
        self.engine = engine
        self.changes = changes
    }

    private var client: QueryClient {
        QueryClient(accessGroups: groups.map { Array($0.utf8) }, userID: 7, groupID: 8)
    }

    package func entitled(_ groups: [String]) -> any SecItemClient { with(groups) }

    package func with(_ groups: [String]) -> EngineClient {
        var other = self
        other.groups = groups
        return other
    }

    package func add(_ attributes: [String: PlainValue]) -> Answer {
        response { () throws(SecurityStatus) in
            let (values, secret) = Self.split(attributes)
            let added = try engine.add(values, secret: Self.secret(secret), by: client)
            changes.set(added.changes)
            return added.result
        }
    }

    package func copyMatching(_ query: [String: PlainValue]) -> Answer {
        response { () throws(SecurityStatus) in try engine.copyMatching(Self.split(query).values, by: client) }
    }

    package func update(_ query: [String: PlainValue], _ attributes: [String: PlainValue]) -> Int32 {
        response { () throws(SecurityStatus) in
            let (values, secret) = Self.split(attributes)
            let found = try engine.update(
                Self.split(query).values, to: values, secret: Self.secret(secret), by: client)
            changes.set(found)
            return .none
        }.status
    }

    package func delete(_ query: [String: PlainValue]) -> Int32 {
        response { () throws(SecurityStatus) in
            changes.set(try engine.delete(Self.split(query).values, by: client))
            return .none
        }.status
    }

    private func response(_ body: () throws(SecurityStatus) -> QueryResult) -> Answer {
        do throws(SecurityStatus) {
            let result = try body()
            return Answer(status: 0, result: try PlainValue(result))
        } catch {
            return Answer(status: error.rawValue, result: nil)
        }
    }

    private static func secret(_ bytes: [UInt8]) throws(SecurityStatus) -> SecretBytes {
        do throws(CryptoError) { return try SecretBytes(copying: bytes.rawSpan) } catch { throw .allocate }
    }

    /// Separates the secret from the dictionary.
    private static func split(_ plain: [String: PlainValue]) -> (values: QueryDictionary, secret: [UInt8]) {
        var values = plain.mapValues { QueryValue($0) }
        guard case .data(let secret)? = plain[kSecValueData] else { return (values, []) }
        values[kSecValueData] = .secret
        return (values, secret)
    }
}

/// The changes of the last call, for tests of their report.
package final class LastChanges: Sendable {
    private let state = Mutex<[ItemChange]>([])

    package init() {}

    package var all: [ItemChange] { state.withLock { $0 } }
    package func set(_ changes: [ItemChange]) { state.withLock { $0 = changes } }
}

extension QueryValue {
    fileprivate init(_ plain: PlainValue) {
        self =
            switch plain {
            case .text(let text): .string(text)
            case .data(let bytes): .data(bytes)
            case .number(let number): .number(number)
            case .real(let number): .real(number)
            case .boolean(let flag): .boolean(flag)
            case .date(let date): .date(date)
            case .list(let values): .list(values.map { QueryValue($0) })
            case .dictionary(let values): .dictionary(values.mapValues { QueryValue($0) })
            case .accessControl(let control): .accessControl(control)
            case .null: .null
            case .object: .object
            }
    }
}

extension PlainValue {
    fileprivate init?(_ result: QueryResult) throws(SecurityStatus) {
        switch result {
        case .none: return nil
        case .one(let entry): self = try PlainValue(entry)
        case .list(let entries):
            var values: [PlainValue] = []
            for entry in entries { values.append(try PlainValue(entry)) }
            self = .list(values)
        }
    }

    private init(_ entry: QueryEntry) throws(SecurityStatus) {
        switch entry {
        case .data(let secret): self = try PlainValue(secret)
        case .persistentReference(let bytes): self = .data(bytes)
        case .dictionary(let values, let secret):
            var plain = values.mapValues { PlainValue($0) }
            if let secret { plain[kSecValueData] = try PlainValue(secret) }
            self = .dictionary(plain)
        }
    }

    private init(_ secret: SealedSecret) throws(SecurityStatus) {
        do throws(KeychainFault) {
            var opened = try KeychainFault.translating { () throws(CryptoError) in
                try SecretBytes(count: secret.count)
            }
            var output = opened.mutableBytes
            guard try secret.read(at: 0, into: &output) == secret.count else { throw .decode }
            self = .data([UInt8](copying: opened.bytes))
        } catch {
            throw SecurityStatus(error)
        }
    }

    fileprivate init(_ value: QueryValue) {
        self =
            switch value {
            case .text(let bytes): .text(String(decoding: bytes, as: UTF8.self))
            case .data(let bytes): .data(bytes)
            case .number(let number): .number(number)
            case .real(let number): .real(number)
            case .boolean(let flag): .boolean(flag)
            case .date(let date): .date(date)
            case .list(let values): .list(values.map { PlainValue($0) })
            case .dictionary(let values): .dictionary(values.mapValues { PlainValue($0) })
            case .accessControl(let control): .accessControl(control)
            case .null: .null
            case .secret, .object: .object
            }
    }
}
