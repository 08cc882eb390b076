import Keychain
package import SecretCrypto

/// The description of a credential that git writes to a helper: lines `key=value` up to an empty line or the end (git-credential(1),
/// "INPUT/OUTPUT FORMAT"). Of two equal keys the last one counts; other keys are ignored.
package struct CredentialRequest: ~Copyable, Sendable {
    /// The service without a path: server, protocol and port.
    let service: ServiceKey
    let path: [UInt8]?
    let user: [UInt8]?
    private let input: SecretBytes
    private let password: Range<Int>?

    /// - Returns: Nil if protocol or host is missing or empty, if a value contains a character that the format cannot express, or if the
    ///   port is not a number.
    package init?(_ input: consuming SecretBytes) {
        let values = Self.values(in: input)
        let texts = Self.texts(values, in: input)
        guard let scheme = texts["protocol"], let host = texts["host"], !scheme.isEmpty, !host.isEmpty,
            let scheme = String(validating: scheme, as: UTF8.self),
            let service = InternetServer.service(scheme: scheme, host: host),
            values.values.allSatisfy({ Self.isText($0, in: input) })
        else { return nil }
        self.service = service
        (path, user, password) = (texts["path"], texts["username"], values["password"])
        self.input = input
    }

    /// Returns the password in locked memory; nil if git has sent none. An empty one is a password, which no item has.
    func givenPassword() throws(CryptoError) -> SecretBytes? {
        guard let password else { return nil }
        return try input.slice(password)
    }

    /// Returns the positions of the values.
    private static func values(in input: borrowing SecretBytes) -> [String: Range<Int>] {
        let octets = input.bytes.octets
        var values: [String: Range<Int>] = [:]
        var start = 0
        while start < octets.count {
            var end = start
            while end < octets.count, octets[end] != UInt8(ascii: "\n") { end += 1 }
            guard end > start else { break }
            if let sign = (start..<end).first(where: { octets[$0] == UInt8(ascii: "=") }) {
                let key = String(decoding: (start..<sign).map { octets[$0] }, as: UTF8.self)
                if ["protocol", "host", "path", "username", "password"].contains(key) { values[key] = sign + 1..<end }
            }
            start = end + 1
        }
        return values
    }

    /// Returns all values except the password.
    private static func texts(_ values: [String: Range<Int>], in input: borrowing SecretBytes) -> [String: [UInt8]] {
        let octets = input.bytes.octets
        var texts: [String: [UInt8]] = [:]
        for (key, range) in values where key != "password" { texts[key] = range.map { octets[$0] } }
        return texts
    }

    /// Whether the format can express the value (git refuses the others since CVE-2020-5260 and CVE-2024-52006).
    private static func isText(_ range: Range<Int>, in input: borrowing SecretBytes) -> Bool {
        let octets = input.bytes.octets
        return !range.contains { [0, 0x0D].contains(octets[$0]) }
    }
}
