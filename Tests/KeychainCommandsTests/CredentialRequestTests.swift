import Keychain
import SecretCrypto
import Testing

@testable import KeychainCommands

@Suite("Requests of git")
struct CredentialRequestTests {
    /// Returns the request as the name of its directory, its path, its user and its password; nil if it is refused.
    private func request(_ text: String) throws -> String? {
        let bytes = Array(text.utf8)
        guard let request = CredentialRequest(try SecretBytes(copying: bytes.span.bytes)) else { return nil }
        var parts = [String(decoding: CanonicalName(service: request.service).bytes, as: UTF8.self)]
        parts += [request.path, request.user].map { $0.map { String(decoding: $0, as: UTF8.self) } ?? "-" }
        if let password = try request.givenPassword() {
            parts.append(String(decoding: (0..<password.count).map { password.bytes.octets[$0] }, as: UTF8.self))
        }
        return parts.joined(separator: " ")
    }

    @Test(
        "E8: the description of a credential",
        arguments: [
            ("protocol=https\nhost=h\n", "h,protocol=https - -"),
            ("host=h\nprotocol=ssh\nusername=u", "h,protocol=ssh - u"),
            ("protocol=https\nhost=h:8443\npath=a=b\npassword=p=q\n\n", "h,protocol=https,port=8443 a=b - p=q"),
            ("protocol=https\nhost=[::1]:1\n", "[::1],protocol=https,port=1 - -"),
            ("protocol=https\nhost=[::1]\n", "[::1],protocol=https - -"),
            ("protocol=x\nhost=h\n", "h,protocol=~x - -"),
            ("protocol=https\nhost=a\nhost=b\nwwwauth[]=x\nwwwauth[]=y\n", "b,protocol=https - -"),
            ("protocol=https\nhost=h\n\nusername=u\n", "h,protocol=https - -"),
            ("protocol=https\nhost=h\nusername=\npassword=\n", "h,protocol=https -  "),
        ])
    func valid(_ text: String, _ expected: String) throws {
        #expect(try request(text) == expected)
    }

    @Test(
        "E8: a description without protocol or host, or with a value that is not possible, is refused",
        arguments: [
            "", "\n", "host=h\n", "protocol=https\n", "protocol=\nhost=h\n", "protocol=https\nhost=\n",
            "protocol=https\nhost=:1\n",
            "protocol=https\nhost=h:\n", "protocol=https\nhost=h:x\n", "protocol=https\nhost=h:0\n",
            "protocol=https\nhost=h:65536\n",
            "protocol=https\nhost=h:-1\n", "protocol=https\nhost=h:99999999999999999999\n",
            "protocol=https\nhost=h\r\n",
            "protocol=https\nhost=h\nusername=a\0b\n", "protocol=https\nhost=h\npassword=a\rb\n",
            "\nprotocol=https\nhost=h\n",
        ])
    func refused(_ text: String) throws {
        #expect(try request(text) == nil)
    }
}
