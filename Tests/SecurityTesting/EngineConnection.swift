import Keychain
import KeychainRPC
import SecretCrypto

/// The query engine of a keychain in this process, as a connection.
package struct EngineConnection: ItemConnection {
    private let engine: QueryEngine
    private let onChange: @Sendable ([ItemChange]) -> Void

    /// - Parameter onChange: gets what each call has changed.
    package init(_ engine: QueryEngine, onChange: @escaping @Sendable ([ItemChange]) -> Void = { _ in }) {
        self.engine = engine
        self.onChange = onChange
    }

    package func perform(
        _ request: ItemRequest, secret: borrowing SecretBytes, receive: (borrowing AnswerFrame) -> Void
    ) -> Int32 {
        let client = QueryClient(
            accessGroups: request.accessGroups.map { Array($0.utf8) }, userID: 0, groupID: 0)
        let query = request.query.mapValues { QueryValue($0) }
        do throws(SecurityStatus) {
            switch request.operation {
            case .add:
                let added = try engine.add(query, secret: secret, by: client)
                onChange(added.changes)
                try tell(added.result, receive)
            case .copyMatching:
                try tell(try engine.copyMatching(query, by: client), receive)
            case .update:
                let attributes = request.attributes.mapValues { QueryValue($0) }
                onChange(try engine.update(query, to: attributes, secret: secret, by: client))
            case .delete:
                onChange(try engine.delete(query, by: client))
            }
            return 0
        } catch {
            return error.rawValue
        }
    }

    private func tell(
        _ result: QueryResult, _ receive: (borrowing AnswerFrame) -> Void
    ) throws(SecurityStatus) {
        switch result {
        case .none: break
        case .one(let entry): try tell([entry], isList: false, receive)
        case .list(let entries): try tell(entries, isList: true, receive)
        }
    }

    /// A frame for each entry, and one that ends the answer.
    private func tell(
        _ entries: [QueryEntry], isList: Bool, _ receive: (borrowing AnswerFrame) -> Void
    ) throws(SecurityStatus) {
        do {
            for entry in entries {
                let (value, secret) = Self.parts(of: entry)
                guard let secret else {
                    receive(try AnswerFrame(entries: [value], isLast: false))
                    continue
                }
                var bytes = try SecretBytes(count: secret.count)
                var span = bytes.mutableBytes
                _ = try secret.read(at: 0, into: &span)
                receive(
                    try AnswerFrame(entries: [value], isLast: false, secrets: bytes, counts: [secret.count]))
            }
            receive(try AnswerFrame(entries: [], isLast: true, isList: isList))
        } catch let error as KeychainError {
            throw SecurityStatus(error)
        } catch {
            throw .internalError
        }
    }

    private static func parts(of entry: QueryEntry) -> (PropertyList, SealedSecret?) {
        switch entry {
        case .data(let secret): return (.secret(0), secret)
        case .persistentReference(let bytes): return (.data(bytes), nil)
        case .dictionary(let values, let secret):
            var values = values.mapValues { PropertyList($0) }
            if secret != nil { values["v_Data"] = .secret(0) }
            return (.dictionary(values), secret)
        }
    }
}

extension QueryValue {
    fileprivate init(_ value: PropertyList) {
        if let (protection, flags) = value.accessControl {
            let found = Protection.allCases.first { $0.code == protection }
            self = found.map { .accessControl(AccessControl(protection: $0, flags: flags)) } ?? .object
            return
        }
        self =
            switch value {
            case .string(let text): .string(text)
            case .data(let bytes): .data(bytes)
            case .integer(let number): .number(number)
            case .real(let number): .real(number)
            case .boolean(let flag): .boolean(flag)
            case .date(let seconds): .date(Self.date(seconds))
            case .array(let values): .list(values.map { QueryValue($0) })
            case .dictionary(let values): .dictionary(values.mapValues { QueryValue($0) })
            case .null: .null
            case .secret: .secret
            case .object: .object
            }
    }

    private static func date(_ seconds: Double) -> KeychainDate {
        let whole = seconds.rounded(.down)
        return KeychainDate(
            seconds: Int64(whole) + Plist.epoch, nanoseconds: Int32((seconds - whole) * 1_000_000_000))
    }
}

private enum Plist {
    /// 2001-01-01T00:00:00Z in seconds since 1970.
    static let epoch: Int64 = 978_307_200
}

extension PropertyList {
    fileprivate init(_ value: QueryValue) {
        self =
            switch value {
            case .text(let bytes): .string(String(decoding: bytes, as: UTF8.self))
            case .data(let bytes): .data(bytes)
            case .number(let number): .integer(number)
            case .real(let number): .real(number)
            case .boolean(let flag): .boolean(flag)
            case .date(let date):
                .date(Double(date.seconds - Plist.epoch) + Double(date.nanoseconds) / 1_000_000_000)
            case .list(let values): .array(values.map { PropertyList($0) })
            case .dictionary(let values): .dictionary(values.mapValues { PropertyList($0) })
            case .accessControl(let control):
                .accessControl(protection: control.protection.code, flags: control.flags)
            case .null: .null
            case .secret, .object: .object
            }
    }
}
