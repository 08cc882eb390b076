import Security
import Testing
import Tokens

@Test("a token is added once")
func add() {
    let tokens = Tokens(account: "test")
    #expect(tokens.add("value") == errSecSuccess)
    #expect(tokens.add("other") == errSecDuplicateItem)
    #expect(tokens.find() == "value")
}
