import SecItemTesting

extension Route {
    /// Every way that the cases of reference section 8 are run.
    static let all = [engine, local, frames, mount]
}
