import SecretCrypto

@testable import KeychainCommands

/// Finds keys of one-time codes in contents of items.
extension FuzzTarget {
    static let oneTimeKeys = FuzzTarget(
        "one-time-keys", limit: 2048,
        words: [
            "otpauth://totp/", "otpauth://hotp/", "?secret=", "&algorithm=SHA512", "&digits=8", "&period=60",
            "&encoder=steam",
            "%3D", "%20", "+", "GEZDGNBVGY3TQOJQ", "=", "#", "\n", "\r\n",
        ],
        examples: { oneTimeKeyExamples.map { Array($0.utf8) } }
    ) { input in
        guard let key = try? OneTimeKey.find(in: try secret(input)) else { return }
        for seconds in [0, 59, 1_700_000_000, Int64.max] {
            let code = try key.code(at: seconds)
            let octets = code.bytes.octets
            try hold((7...9).contains(octets.count), "a code of another length")
            try hold(octets[octets.count - 1] == UInt8(ascii: "\n"), "a code without a line feed")
            try hold(
                (0..<octets.count - 1).allSatisfy { (0x30...0x39).contains(octets[$0]) }, "a code with other characters"
            )
            try hold((1...300).contains(key.secondsLeft(at: seconds)), "a time that does not exist")
        }
        // A line before the link changes nothing.
        guard input.starts(with: "otpauth://totp/".utf8) else { return }
        let again = try OneTimeKey.find(in: try secret(Array("notes\n".utf8) + input))
        try hold(try again.code(at: 59).isEqual(to: try key.code(at: 59)), "another code after a line of text")
    }

    private static let oneTimeKeyExamples = [
        "GEZDGNBVGY3TQOJQ", "gezd gnbv gy3t qojq\n", "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ",
        "password\notpauth://totp/A%20B:c?period=45&secret=GEZDGNBV%20GY3TQOJQ%3D&algorithm=SHA256&digits=8#end\r\nnotes",
        "otpauth://hotp/x?secret=AAAA\n", "otpauth://totp/x?secret=AAAA&secret=BBBB",
    ]
}
