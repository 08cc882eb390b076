import Foundation
import KeychainConnection
import KeychainRPC
import SecretCrypto
import Synchronization
import Testing

@testable import Security

@Suite("the requests of calls, and their results")
struct RequestTests {
    /// A transport that records the request and responds with one entry.
    private final class Recorder: KeychainTransport {
        let entry: PropertyList
        private let state = Mutex<(request: ItemRequest?, secret: [UInt8])>((nil, []))

        init(_ entry: PropertyList = .null) { self.entry = entry }

        var request: ItemRequest? { state.withLock { $0.request } }
        var secret: [UInt8] { state.withLock { $0.secret } }

        func perform(
            _ request: ItemRequest, secret: RawSpan, receive: (borrowing ResponseFrame) -> Void
        ) -> Int32 {
            let bytes = secret.withUnsafeBytes { Array($0) }
            state.withLock { $0 = (request, bytes) }
            guard let frame = try? ResponseFrame(entries: [entry], isLast: true) else { return errSecInternalComponent }
            receive(frame)
            return errSecSuccess
        }
    }

    private func call(_ recorder: Recorder, _ body: () -> OSStatus) -> OSStatus {
        ItemAccess.$scoped.withValue(ItemAccess(recorder, accessGroups: ["one", "two"]), operation: body)
    }

    @Test("H1: a secret that is given as a text does not travel")
    func textAsData() {
        for secret in ["canary", NSString("canary"), ["canary"]] as [Any] {
            let recorder = Recorder()
            let item = [kSecClass: kSecClassGenericPassword, kSecValueData: secret] as CFDictionary
            _ = call(recorder) { SecItemAdd(item, nil) }
            #expect(recorder.request?.query["v_Data"] == .object)
            _ = call(recorder) { SecItemUpdate([kSecClass: kSecClassGenericPassword] as CFDictionary, item) }
            #expect(recorder.request?.attributes["v_Data"] == .object)
        }
    }

    @Test("an addition without a place for its result requests none, so that no secret is returned needlessly")
    func additionWithoutPointer() {
        let recorder = Recorder()
        let item =
            [kSecClass: "genp", kSecValueData: Data([1, 2]), kSecReturnData: true, kSecReturnRef: "yes"]
            as [CFString: Any]
        #expect(call(recorder) { SecItemAdd(item as CFDictionary, nil) } == errSecSuccess)
        let expected: [String: PropertyList] = [
            "class": .string("genp"), "v_Data": .secret(0), "r_Data": .boolean(false), "r_Ref": .string("yes"),
        ]
        #expect(recorder.request == ItemRequest(.add, query: expected, accessGroups: ["one", "two"]))
        #expect(recorder.secret == [1, 2])
    }

    @Test("a search, and the query of a change or deletion, contain no secret")
    func noSecret() {
        let recorder = Recorder()
        let query = [kSecClass: "genp", kSecValueData: Data([1, 2])] as [CFString: Any] as CFDictionary
        let change = [kSecValueData: Data([3])] as [CFString: Any] as CFDictionary
        #expect(call(recorder) { SecItemCopyMatching(query, nil) } == errSecSuccess)
        #expect(recorder.request?.query == ["class": .string("genp")] && recorder.secret == [])
        #expect(call(recorder) { SecItemUpdate(query, change) } == errSecSuccess)
        #expect(recorder.request?.query == ["class": .string("genp")] && recorder.secret == [3])
        #expect(recorder.request?.attributes == ["v_Data": .secret(0)])
        #expect(call(recorder) { SecItemDelete(query) } == errSecSuccess)
        #expect(recorder.request?.operation == .delete && recorder.secret == [])
    }

    @Test("a boolean among the attributes is a number, from every transport")
    func booleans() throws {
        let recorder = Recorder(.dictionary(["sync": .boolean(true), "odd": .null, "list": .array([.real(1.5)])]))
        var result: CFTypeRef?
        let query = [kSecClass: "genp", kSecReturnAttributes: true] as [CFString: Any] as CFDictionary
        #expect(call(recorder) { SecItemCopyMatching(query, &result) } == errSecSuccess)
        let attributes = try #require(result as? [String: AnyObject])
        let flag = try #require(attributes["sync"])
        #expect(CFGetTypeID(flag) == CFNumberGetTypeID() && flag as? Int == 1)
        #expect(attributes["odd"] is NSNull && attributes["list"] as? [Double] == [1.5])
    }
}
