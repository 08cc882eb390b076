import KeychainService
import SecItemTesting
import TestSupport

extension Route {
    /// Every route on which the cases of reference section 8 run. The quick lane has no mount.
    static let all = [engine, local, frames] + (TestLane.hasMounts ? [mount] : []) + [functions]

    /// Apple's functions, from a caller's objects to a caller's objects.
    static let functions = Route("SecItem functions") { keychain, limit, _ in
        let service = ItemService(keychain: keychain, valueLimit: limit)
        return FunctionsClient(connection: LocalConnection(service, caller: caller))
    }
}
