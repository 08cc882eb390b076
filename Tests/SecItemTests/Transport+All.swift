import KeychainServer
import SecItemTesting
import TestSupport

extension Transport {
    /// Every route on which the cases of reference section 8 run. The quick lane has no mount.
    static let all = [engine, local, frames] + (TestLane.hasMounts ? [mount] : []) + [functions]

    /// Apple's functions, from a caller's objects to a caller's objects.
    static let functions = Transport("SecItem functions") { keychain, limit, _ in
        let service = RequestHandler(keychain: keychain, valueLimit: limit)
        return FunctionsClient(connection: InProcessTransport(service, owner: defaultOwner))
    }
}
