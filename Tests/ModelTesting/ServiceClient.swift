import FileSystemCore
import FileSystemTesting
import Foundation
import KeychainRPC
import SecretCrypto
import SystemPackage

/// Asks Keychain Services as any program does: through `.keychainfs/rpc`.
struct ServiceClient {
    let client: any FileClient

    func call(_ call: ServiceCall) throws(Errno) -> Outcome {
        let (request, secret) = Self.request(for: call)
        let head: [UInt8]
        do throws(FrameError) {
            head = try RequestFrame.head(of: request, secretCount: secret.count)
        } catch {
            throw .invalidArgument
        }
        let descriptor = try client.open("/.keychainfs/rpc", [.readWrite])
        let answer = Result { () throws(Errno) in
            try client.write(descriptor, head + secret)
            return try client.readAll(descriptor)
        }
        try client.close(descriptor)
        return try Self.outcome(of: try answer.get())
    }

    private static func outcome(of answer: [UInt8]) throws(Errno) -> Outcome {
        var reader = ResponseReader()
        var found: [UInt8]?
        do throws(FrameError) {
            try reader.append(answer.rawSpan) { frame in
                if let secret = frame.secret(0) { found = [UInt8](copying: secret) }
            }
        } catch {
            throw .badMessage
        }
        guard let status = reader.status else { throw .noData }
        guard status == 0 else { return .failed(status) }
        return found.map { .bytes(Data($0)) } ?? .done
    }

    private static func request(for call: ServiceCall) -> (request: ItemRequest, secret: [UInt8]) {
        switch call {
        case .add(let place, let fill, let label):
            let query = keys(of: place).merging(values(fill, label)) { $1 }
            return (ItemRequest(.add, query: query, accessGroups: groups), fill.bytes)
        case .update(let place, let fill, let label, let target):
            let moved = target.map { target in keys(of: target).filter { keys(of: place)[$0.key] != $0.value } }
            let changes = values(fill, label).merging(moved ?? [:]) { $1 }
            return (
                ItemRequest(.update, query: keys(of: place), attributes: changes, accessGroups: groups),
                fill?.bytes ?? []
            )
        case .delete(let place): return (ItemRequest(.delete, query: keys(of: place), accessGroups: groups), [])
        case .find(let place):
            let query = keys(of: place).merging(["r_Data": .boolean(true)]) { $1 }
            return (ItemRequest(.copyMatching, query: query, accessGroups: groups), [])
        }
    }

    private static let groups = ["default", "g"]

    private static func values(_ fill: BytePattern?, _ label: String?) -> [String: PropertyList] {
        var values: [String: PropertyList] = [:]
        if fill != nil { values["v_Data"] = .secret(0) }
        if let label { values["labl"] = .string(label) }
        return values
    }

    /// The primary key.
    private static func keys(of place: Place) -> [String: PropertyList] {
        let path = ServicePath(place.directory)
        return [
            "class": .string(path.isGeneric ? "genp" : "inet"), path.isGeneric ? "svce" : "srvr": .string(path.service),
            "acct": .string(place.name), "agrp": .string(path.group ?? "default"),
            "sync": .boolean(path.isSynchronizable),
        ]
    }
}
