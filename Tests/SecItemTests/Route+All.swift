import KeychainService
import SecItemTesting

extension Route {
    /// Every way that the cases of reference section 8 are run.
    static let all = [engine, local, frames, mount, functions]

    /// Apple's functions, from a caller's objects to a caller's objects.
    static let functions = Route("SecItem functions") { keychain, limit, _ in
        let service = ItemService(keychain: keychain, valueLimit: limit)
        return FunctionsClient(connection: LocalConnection(service, caller: caller))
    }
}
