public import Foundation
import Synchronization

/// The longest ``LAContext/touchIDAuthenticationAllowableReuseDuration``, in seconds.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300

/// The state of an authentication of the user, which this system does not offer: each evaluation of a policy fails with
/// the error that Apple documents for a device without the means, so that code takes its alternative.
///
/// As a value of `kSecUseAuthenticationContext` it has no effect: the unlocked keychain satisfies the constraints that
/// an item can have. All members can be used from any thread: the state is behind a lock, which the compiler cannot
/// check in a class that others may inherit from.
open class LAContext: NSObject, @unchecked Sendable {
    private struct State {
        var isInvalid = false
        var interactionNotAllowed = false
        var reason = ""
        var fallbackTitle: String?
        var cancelTitle: String?
        var reuseDuration: TimeInterval = 0
    }

    private let state = Mutex(State())

    public override init() { super.init() }

    /// Whether evaluations must not ask the user, which they never do.
    open var interactionNotAllowed: Bool {
        get { state.withLock { $0.interactionNotAllowed } }
        set { state.withLock { $0.interactionNotAllowed = newValue } }
    }

    /// The reason to show to the user; unused.
    open var localizedReason: String {
        get { state.withLock { $0.reason } }
        set { state.withLock { $0.reason = newValue } }
    }

    /// The title of the button for a password; unused.
    open var localizedFallbackTitle: String? {
        get { state.withLock { $0.fallbackTitle } }
        set { state.withLock { $0.fallbackTitle = newValue } }
    }

    /// The title of the button that cancels; unused.
    open var localizedCancelTitle: String? {
        get { state.withLock { $0.cancelTitle } }
        set { state.withLock { $0.cancelTitle = newValue } }
    }

    /// The time after an unlock of the device during which no authentication is required, in seconds; unused.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { state.withLock { $0.reuseDuration } }
        set { state.withLock { $0.reuseDuration = newValue } }
    }

    /// The biometry of the device: none.
    open var biometryType: LABiometryType { .none }

    /// The state of the registered biometry: none.
    open var evaluatedPolicyDomainState: Data? { nil }

    /// Returns false, because no policy can be evaluated.
    ///
    /// - Parameter error: receives the reason, an ``LAError``.
    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        unsafe error?.pointee = failure(of: policy) as NSError
        return false
    }

    /// Evaluates a policy, which fails.
    ///
    /// - Parameter reply: is called on another thread, with false and an ``LAError``.
    open func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        let failure = failure(of: policy)
        DispatchQueue.global().async { reply(false, failure) }
    }

    /// Evaluates a policy, which fails.
    ///
    /// - Throws: an ``LAError``.
    @discardableResult
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        let failure = failure(of: policy)
        return try await withCheckedThrowingContinuation { continuation in
            evaluatePolicy(policy, localizedReason: localizedReason) { success, error in
                continuation.resume(with: success ? .success(true) : .failure(error ?? failure))
            }
        }
    }

    /// Ends the context: its evaluations fail with `invalidContext`.
    open func invalidate() { state.withLock { $0.isInvalid = true } }

    private func failure(of policy: LAPolicy) -> LAError {
        LAError(state.withLock { $0.isInvalid } ? .invalidContext : policy.unavailability)
    }
}
