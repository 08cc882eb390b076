import Foundation
import Keychain
import SecretCrypto

@testable import KeychainCommands

/// Parses what git and docker send to their credential helpers.
extension FuzzTarget {
    static let credentialRequests = FuzzTarget(
        "credential-requests", limit: 2048,
        words: [
            "protocol=", "host=", "path=", "username=", "password=", "\n", "https", "://", "[::1]:", ":8443", "/v1/",
            "ServerURL", "Username",
            "Secret", "{\"", "\":\"", "\",\"", "\"}", "\\u00", "\\ud83d\\ude00", "\\n", "\\\"", "\\\\",
        ],
        examples: { credentialRequestExamples.map { Array($0.utf8) } }
    ) { input in
        try checkGit(input)
        try checkServer(input)
        try checkJSON(input)
    }

    /// A description that is written again is the same.
    private static func checkGit(_ input: [UInt8]) throws {
        guard let request = CredentialRequest(try secret(input)), let type = request.service[.protocol]?.bytes,
            let server = request.service[.server]?.bytes
        else { return }
        let password = try Self.password(of: request)
        var lines = Array("protocol=\(InternetServer.scheme(of: type))\nhost=".utf8) + server
        if case .number(let port)? = request.service[.port] { lines += Array(":\(port)".utf8) }
        for (name, value) in [("path", request.path), ("username", request.user), ("password", password)] {
            if let value { lines += Array("\n\(name)=".utf8) + value }
        }
        guard let again = CredentialRequest(try secret(lines)) else {
            throw Finding("a description that is refused when it is written again")
        }
        try hold(
            again.service == request.service && again.path == request.path && again.user == request.user,
            "another description")
        let passwordAgain = try Self.password(of: again)
        try hold(passwordAgain == password, "another password")
    }

    /// Docker uses a server as a name.
    private static func checkServer(_ input: [UInt8]) throws {
        guard let text = String(validating: input, as: UTF8.self), let server = DockerServer(text) else { return }
        try hold(server.url.utf8.elementsEqual(input), "another server")
        guard case .key(let key)? = try? CanonicalName(service: server.service).service(in: .internetPassword) else {
            return
        }
        try hold(DockerServer(key) == server, "another server of its directory")
    }

    /// The strings are those that Foundation reads, and are read again as they were written.
    private static func checkJSON(_ input: [UInt8]) throws {
        guard let object = SecretJSON(try secret(input)) else { return }
        let expected = try JSONDecoder().decode([String: String].self, from: Data(input))
        let names = ["ServerURL", "Username"]
        for name in names + ["Secret"] { try hold(object.string(name) == expected[name], "another value") }
        guard let value = try object.secret("Secret") else { return }
        let members = names.map { (name: $0, value: expected[$0] ?? "") }
        guard let written = try SecretJSON.encode(members, secret: value, named: "Secret"),
            let again = SecretJSON(written)
        else {
            throw Finding("an object that is refused when it is written again")
        }
        for member in members {
            try hold(again.string(member.name) == member.value, "another value after it was written")
        }
        try hold(again.string("Secret") == expected["Secret"], "another secret after it was written")
    }

    private static func password(of request: borrowing CredentialRequest) throws -> [UInt8]? {
        guard let password = try request.givenPassword() else { return nil }
        return bytes(password)
    }

    private static func bytes(_ value: borrowing SecretBytes) -> [UInt8] {
        let octets = value.bytes.octets
        return octets.indices.map { octets[$0] }
    }

    private static let credentialRequestExamples = [
        "protocol=https\nhost=[::1]:8443\npath=a/b.git\nusername=u\npassword=p=q\n\n", "protocol=x\nhost=a\nhost=b",
        "https://index.docker.io/v1/",
        "127.0.0.1:5998", #"{"ServerURL":"https://h/v1/","Username":"<token>","Secret":"a\u00e9\ud83d\ude00\n\"\\"}"#,
        " { \"Secret\" : \"\\/\" ,\"Username\":\"é\"}\n",
    ]
}
