import SecretCrypto
import Testing

@testable import KeychainCommands

@Suite("Text of a secret")
struct SecretTextTests {
    @Test(
        "E3: the first line ends before a line feed, or before the carriage return of a line as on Windows",
        arguments: [
            ("", 0), ("a", 1), ("a\n", 1), ("a\nb\n", 1), ("\n", 0), ("\nb", 0), ("a\r\nb", 1), ("\r\n", 0), ("a\r", 2),
            ("a\rb\n", 3), ("a\r\r\n", 2), ("a\0b\n", 3),
        ])
    func firstLine(_ text: String, _ length: Int) throws {
        let bytes = Array(text.utf8)
        #expect(SecretText.lengthOfFirstLine(try SecretBytes(copying: bytes.span.bytes)) == length)
    }
}
