extension Keychain {
    /// Returns the password of an account with a service.
    ///
    /// - Throws: ``KeychainError/itemNotFound``, ``KeychainError/locked``.
    public func password(service: String, account: String) throws(KeychainError) -> Secret {
        try secret(of: .generic(service: service, account: account))
    }

    /// Returns the password of an account with a service, or nil if it does not exist.
    public func passwordIfPresent(service: String, account: String) throws(KeychainError) -> Secret? {
        try secretIfPresent(of: .generic(service: service, account: account))
    }

    /// Adds or replaces the password of an account with a service.
    public func setPassword(
        _ password: borrowing Secret, service: String, account: String, attributes: ItemAttributes = ItemAttributes()
    ) throws(KeychainError) {
        try set(password, for: .generic(service: service, account: account), attributes: attributes)
    }

    /// Removes the password of an account with a service. Returns false if it does not exist.
    @discardableResult public func removePassword(service: String, account: String) throws(KeychainError) -> Bool {
        try remove(.generic(service: service, account: account))
    }

    /// Returns the password of an account with a server.
    public func password(
        server: String, account: String, protocol: InternetProtocol? = nil, port: Int? = nil, path: String = ""
    ) throws(KeychainError) -> Secret {
        try secret(of: .internet(server: server, account: account, protocol: `protocol`, port: port, path: path))
    }

    /// Adds or replaces the password of an account with a server.
    public func setPassword(
        _ password: borrowing Secret, server: String, account: String, protocol: InternetProtocol? = nil,
        port: Int? = nil, path: String = "", attributes: ItemAttributes = ItemAttributes()
    ) throws(KeychainError) {
        let key = ItemKey.internet(server: server, account: account, protocol: `protocol`, port: port, path: path)
        try set(password, for: key, attributes: attributes)
    }

    /// Removes the password of an account with a server. Returns false if it does not exist.
    @discardableResult public func removePassword(
        server: String, account: String, protocol: InternetProtocol? = nil, port: Int? = nil, path: String = ""
    ) throws(KeychainError) -> Bool {
        try remove(.internet(server: server, account: account, protocol: `protocol`, port: port, path: path))
    }
}
