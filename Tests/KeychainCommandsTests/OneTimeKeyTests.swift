import SecretCrypto
import Testing

@testable import KeychainCommands

@Suite("Keys of one-time codes")
struct OneTimeKeyTests {
    private func key(_ text: String) throws -> OneTimeKey {
        try OneTimeKey.find(in: try secret(text))
    }

    private func secret(_ text: String) throws -> SecretBytes {
        var bytes = try SecretBytes(count: text.utf8.count)
        for (index, byte) in text.utf8.enumerated() { bytes.set(byte, at: index) }
        return bytes
    }

    private func code(_ text: String, at seconds: Int64) throws -> String {
        let code = try key(text).code(at: seconds)
        return String(decoding: (0..<code.count).map { code.bytes.octets[$0] }, as: UTF8.self)
    }

    private func refusal(_ text: String) throws -> OneTimeKey.ParseError? {
        do {
            _ = try key(text)
            return nil
        } catch let error as OneTimeKey.ParseError {
            return error
        }
    }

    /// The keys of RFC 6238, appendix B: the digits 1 to 0, repeated up to 20, 32 and 64 bytes.
    private static let keys = [
        "SHA1": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
        "SHA256": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZA====",
        "SHA512":
            "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNA",
    ]

    @Test(
        "E5: the codes of RFC 6238, appendix B",
        arguments: [
            (59, "94287082", "46119246", "90693936"), (1_111_111_109, "07081804", "68084774", "25091201"),
            (1_111_111_111, "14050471", "67062674", "99943326"), (1_234_567_890, "89005924", "91819424", "93441116"),
            (2_000_000_000, "69279037", "90698825", "38618901"), (20_000_000_000, "65353130", "77737706", "47863826"),
        ] as [(Int64, String, String, String)])
    func vectors(seconds: Int64, sha1: String, sha256: String, sha512: String) throws {
        for (hash, expected) in [("SHA1", sha1), ("SHA256", sha256), ("SHA512", sha512)] {
            let link =
                "otpauth://totp/Example:alice?secret=\(Self.keys[hash] ?? "")&issuer=Example&algorithm=\(hash)&digits=8&period=30"
            #expect(try code(link, at: seconds) == expected + "\n")
        }
    }

    @Test(
        "E5: a key alone, as it is typed, and a link within other lines give the same code",
        arguments: [
            "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", "gezdgnbvgy3tqojqgezdgnbvgy3tqojq\n",
            "gezd gnbv gy3t qojq gezd gnbv gy3t qojq\r\n",
            " GEZDGNBVGY3TQOJQ\nGEZDGNBVGY3TQOJQ ", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ========",
            "otpauth://totp/x?secret=gezdgnbvgy3tqojqgezdgnbvgy3tqojq",
            "OTPAUTH://TOTP/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
            "otpauth://totp/A%20B:c?period=30&secret=GEZDGNBV%20GY3TQOJQ+GEZDGNBVGY3TQOJQ%3D%3D&algorithm=sha1&digits=6&image=x",
            "password\nuser: amy\notpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ\r\nnotes",
            "otpauth://hotp/x?secret=AAAAAAAA\notpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ#end\notpauth://totp/y?secret=A",
        ])
    func forms(text: String) throws {
        #expect(try code(text, at: 59) == "287082\n")
    }

    @Test(
        "E5: other contents have no key",
        arguments: [
            "", "\n", "password", "GEZDGNBVGY3TQOJ", String(repeating: "A", count: 129), "GEZDGNBVGY3TQOJ1",
            "GEZDGNBVGY3TQ=JQGEZD",
            "GEZDGNBVGY3TQOJQ\u{0}", "otpauth://totp/x", "otpauth://totp/x?", "otpauth://totp/x?secret=",
            "otpauth://totp/x?secret=&digits=6",
            "otpauth://totp/x?secret=%3D", "otpauth://totp/x?secret=%2", "otpauth://totp/x?secret=%G0AAAA",
            "otpauth://totp/x?secret=A",
            "otpauth://totp/x#?secret=GEZDGNBVGY3TQOJQ", "otpauth://totp/x?issuer=a&Secret=GEZDGNBVGY3TQOJQ",
            "x otpauth://totp/x?secret=AAAA",
        ])
    func withoutKey(text: String) throws {
        #expect(try refusal(text) == .noKey)
    }

    @Test(
        "E5: a parameter that is not supported is refused, because the codes would be wrong",
        arguments: [
            ("algorithm", "MD5"), ("algorithm", ""), ("algorithm", "SHA1%00"), ("digits", "5"), ("digits", "9"),
            ("digits", "x"),
            ("digits", ""), ("period", "0"), ("period", "301"), ("period", "-30"), ("period", "99999999999999999999"),
            ("encoder", "steam"), ("period", "30&period=60"), ("digits", "6&digits=6"),
        ])
    func parameters(name: String, value: String) throws {
        #expect(try refusal("otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ&\(name)=\(value)") == .parameter(name))
    }

    @Test("E5: a key of codes by a counter is refused as such, and two keys in one link too")
    func counter() throws {
        #expect(try refusal("otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQ&counter=1") == .counter)
        #expect(try refusal("otpauth://totp/x?secret=AAAA&secret=BBBB") == .parameter("secret"))
    }

    @Test("E5: a time before 1970 has no code; the last second of a code is its last")
    func times() throws {
        let link = "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ&period=300&digits=7"
        #expect(throws: CryptoError.invalidParameter) { try code(link, at: -1) }
        #expect(try code(link, at: 300) == code(link, at: 599) && code(link, at: 300) != code(link, at: 600))
        #expect(try code(link, at: .max).utf8.count == 8)
        let key = try key(link)
        #expect(key.secondsLeft(at: 300) == 300)
        #expect(key.secondsLeft(at: 599) == 1)
    }
}
