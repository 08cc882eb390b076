import Foundation
import LocalAuthentication
import Security
import SecurityTesting
import Testing

// A program's own subclass, as its tests replace the context.
private class AgreeingContext: LAContext, @unchecked Sendable {
    override var biometryType: LABiometryType { .faceID }

    override func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool { true }

    override func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping (Bool, Error?) -> Void
    ) {
        reply(true, nil)
    }
}

private class RefusingContext: LAContext, @unchecked Sendable {
    override func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        error?.pointee = NSError(domain: LAErrorDomain, code: LAError.biometryLockout.rawValue)
        return false
    }

    override func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        throw LAError(.biometryLockout, userInfo: [NSLocalizedDescriptionKey: "locked out"])
    }
}

private func unlock(with context: LAContext) async -> String {
    var error: NSError?
    guard context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error) else {
        return "password: \(error?.code ?? 0)"
    }
    do {
        try await context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "Unlock")
        return "biometry"
    } catch LAError.userCancel {
        return "canceled"
    } catch {
        return "failed"
    }
}

@Suite("patterns: LocalAuthentication", .memoryKeychain)
struct LocalAuthenticationPatterns {
    private let key: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "a",
    ]

    @Test("123: a check before the evaluation takes the alternative")
    func alternative() async {
        #expect(await unlock(with: LAContext()) == "password: \(LAError.biometryNotAvailable.rawValue)")
        #expect(await unlock(with: AgreeingContext()) == "biometry")
        #expect(await unlock(with: RefusingContext()) == "password: -8")
        #expect(AgreeingContext().biometryType != .none)
    }

    @Test("124: the error of a check as NSError and as LAError")
    func checkError() {
        var error: NSError?
        #expect(!LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
        #expect(error?.domain == LAErrorDomain && error?.code == LAError.Code.passcodeNotSet.rawValue)
        #expect((error as? LAError)?.code == .passcodeNotSet && (error as Error?) as? LAError != nil)
        #expect(!LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
        #expect(LAContext().biometryType == .none)
    }

    @Test("125: the error of an evaluation with a reply, in a switch")
    func reply() async {
        let found: String = await withCheckedContinuation { continuation in
            LAContext().evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "why") {
                success, error in
                guard !success, let error = error as? LAError else { return continuation.resume(returning: "other") }
                switch error.code {
                case .userCancel, .appCancel: continuation.resume(returning: "canceled")
                case .biometryNotAvailable, .biometryNotEnrolled: continuation.resume(returning: "unavailable")
                default: continuation.resume(returning: "\(error.errorCode)")
                }
            }
        }
        #expect(found == "unavailable")
    }

    @Test("126: the error of an evaluation, caught by its code, by its type, as NSError")
    func caught() async throws {
        func evaluate(_ policy: LAPolicy) async throws {
            try await LAContext().evaluatePolicy(policy, localizedReason: "why")
        }
        do {
            try await evaluate(.deviceOwnerAuthenticationWithBiometrics)
            Issue.record("evaluated")
        } catch LAError.userCancel {
            Issue.record("canceled")
        } catch LAError.biometryNotAvailable {
        }
        do {
            try await evaluate(.deviceOwnerAuthentication)
            Issue.record("evaluated")
        } catch let error as LAError {
            #expect(error.code == .passcodeNotSet && !error.localizedDescription.isEmpty)
        }
        do {
            try await evaluate(.deviceOwnerAuthenticationWithWatch)
            Issue.record("evaluated")
        } catch {
            #expect((error as NSError).domain == LAError.errorDomain && (error as NSError).code == -11)
        }
    }

    @Test("127: an error of another domain or with an unknown code cannot be cast")
    func otherErrors() {
        #expect(NSError(domain: NSOSStatusErrorDomain, code: -6) as? LAError == nil)
        #expect(NSError(domain: LAErrorDomain, code: 1) as? LAError == nil)
        #expect((NSError(domain: LAErrorDomain, code: -2) as? LAError)?.code == .userCancel)
        #expect(LAError(_nsError: NSError(domain: LAErrorDomain, code: -2)).code == .userCancel)
        #expect(LAError(_nsError: NSError(domain: NSOSStatusErrorDomain, code: -2)).code == .authenticationFailed)
    }

    @Test("128: an error with a description of the program's own, and without one")
    func descriptions() async throws {
        do {
            _ = try await RefusingContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "why")
            Issue.record("evaluated")
        } catch {
            #expect(
                error.localizedDescription == "locked out" && (error as NSError).localizedDescription == "locked out")
            #expect((error as? LAError)?.userInfo.isEmpty == false && LAError.biometryLockout ~= error)
        }
        #expect(LAError(.userCancel).localizedDescription == "The user canceled the authentication.")
        #expect(LAError(.userCancel) == LAError(.userCancel) && LAError(.userCancel) != LAError(.appCancel))
    }

    @Test("129: a context in a query, with and without interaction, also after it was invalidated")
    func context() async {
        let context = LAContext()
        context.localizedReason = "why"
        context.localizedFallbackTitle = ""
        context.localizedCancelTitle = nil
        context.touchIDAuthenticationAllowableReuseDuration = LATouchIDAuthenticationMaximumAllowableReuseDuration
        context.interactionNotAllowed = true
        #expect(
            context.localizedReason == "why" && context.interactionNotAllowed && context.localizedFallbackTitle == "")
        var query: [String: AnyHashable] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "a",
            kSecUseAuthenticationContext as String: context,
        ]
        let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil)
        let item = key.merging([kSecAttrAccessControl as String: control as Any]) { $1 }
        #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
        #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecSuccess)
        context.invalidate()
        var error: NSError?
        #expect(!context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error) && error?.code == -10)
        query[kSecUseAuthenticationContext as String] = LAContext()
        #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
    }
}
