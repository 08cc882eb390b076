import Foundation
import SecretCrypto
import Testing

@testable import KeychainCommands

@Suite("JSON with a secret")
struct SecretJSONTests {
    private func bytes(of secret: borrowing SecretBytes) -> [UInt8] {
        let octets = secret.bytes.octets
        return octets.indices.map { octets[$0] }
    }

    private func decode(_ text: [UInt8]) throws -> [String?]? {
        guard let object = SecretJSON(try SecretBytes(copying: text.span.bytes)) else { return nil }
        var values = ["a", "b"].map { object.string($0) }
        if let secret = try object.secret("c") {
            values.append(String(decoding: bytes(of: secret), as: UTF8.self))
        } else {
            values.append(nil)
        }
        return values
    }

    @Test(
        "E8: strings of an object",
        arguments: [
            (#"{"a":"x","b":"y","c":"z"}"#, ["x", "y", "z"]),
            (" {\t\"c\" :\r\n\"\" , \"other\":\"\"} \n", [nil, nil, ""]), ("{}", [nil, nil, nil]),
            (
                #"{"\u0061":"\"\\\/\b\f\n\r\t","c":"\u00e9\u20AC\ud83d\uDE00é€😀"}"#,
                ["\"\\/\u{8}\u{C}\n\r\t", nil, "é€😀é€😀"]
            ),
            (#"{"a":"\u003ctoken\u003e"}"#, ["<token>", nil, nil]), (#"{"a":"{","b":"}","c":","}"#, ["{", "}", ","]),
        ])
    func valid(_ text: String, _ values: [String?]) throws {
        #expect(try decode(Array(text.utf8)) == values)
    }

    @Test(
        "E8: other JSON, names that occur twice and NUL are refused",
        arguments: [
            "", " ", "{", "}", "[]", "null", "\"a\"", "{}x", "{}{}", #"{"a"}"#, #"{"a":}"#, #"{"a":"x",}"#,
            #"{,"a":"x"}"#, #"{"a":"x" "b":"y"}"#,
            #"{"a":1}"#, #"{"a":null}"#, #"{"a":{}}"#, #"{"a":["x"]}"#, #"{"a":"x","a":"y"}"#,
            #"{"a":"x","\u0061":"x"}"#, #"{"a":"x}"#,
            #"{"a":"\"}"#, #"{"a":"\x"}"#, #"{"a":"\u12"}"#, #"{"a":"\u12g4"}"#, #"{"a":"\u0000"}"#, "{\"a\":\"\0\"}",
            "{\"a\":\"\n\"}",
            #"{"a":"\ud83d"}"#, #"{"a":"\ude00"}"#, #"{"a":"\ud83d\u0041"}"#, #"{"a":"\ud83dx"}"#, #"{"a":"\ud83d\n"}"#,
            #"{a:"x"}"#, #"{'a':'x'}"#,
            "\u{FEFF}{}",
        ])
    func refused(_ text: String) throws {
        #expect(try decode(Array(text.utf8)) == nil)
    }

    @Test("E8: JSON that is not UTF-8 is refused, and a secret that is not cannot be expressed")
    func encoding() throws {
        #expect(try decode(Array(#"{"a":""#.utf8) + [0xFF] + Array(#""}"#.utf8)) == nil)
        let bytes: [UInt8] = [0x61, 0xC3]
        let secret = try SecretBytes(copying: bytes.span.bytes)
        if let json = try SecretJSON.encode([], secret: secret, named: "c") {
            Issue.record("\(self.bytes(of: json))")
        }
    }

    @Test("E8: every character is returned as it was")
    func characters() throws {
        let scalars = (0...0x2FF).compactMap { Unicode.Scalar($0) } + ["\u{2028}", "\u{FFFF}", "\u{10FFFF}"]
        let text = String(String.UnicodeScalarView(scalars))
        let bytes = Array(text.utf8)
        let secret = try SecretBytes(copying: bytes.span.bytes)
        guard let encoded = try SecretJSON.encode([("a", text), ("b", "")], secret: secret, named: "c") else {
            Issue.record("no JSON")
            return
        }
        let json = self.bytes(of: encoded)
        #expect(try JSONDecoder().decode([String: String].self, from: Data(json)) == ["a": text, "b": "", "c": text])
        #expect(json.last == UInt8(ascii: "\n"))
        // NUL is a possible byte of an item, but not of a request.
        #expect(try decode(json) == nil)
        let rest = Array(text.utf8.dropFirst())
        let request = try JSONEncoder().encode(["c": String(decoding: rest, as: UTF8.self)])
        #expect(try decode(Array(request)) == [nil, nil, String(decoding: rest, as: UTF8.self)])
    }
}
