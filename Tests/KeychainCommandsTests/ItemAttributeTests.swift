import Keychain
import KeychainMount
import Testing

@testable import KeychainCommands

@Suite("Attributes that commands set")
struct ItemAttributeTests {
    private func refusal(_ text: String, _ itemClass: ItemClass = .genericPassword) throws -> CLIError? {
        let attribute = try #require(ItemAttribute(text))
        do throws(CLIError) {
            try attribute.check(for: itemClass)
            return nil
        } catch {
            return error
        }
    }

    @Test("the first equals sign separates the name from the value, and a name is required")
    func parsing() throws {
        let attribute = try #require(ItemAttribute("kSecAttrComment=a=b"))
        #expect(attribute.name == "kSecAttrComment" && attribute.value == Array("a=b".utf8))
        #expect(try #require(ItemAttribute("color=")).value.isEmpty)
        #expect(try #require(ItemAttribute("kSecAttrLabel=\u{301}a")).value == Array("\u{301}a".utf8))
        #expect(ItemAttribute("color") == nil && ItemAttribute("=blue") == nil && ItemAttribute("") == nil)
    }

    @Test(
        "E1: an attribute that the item can have is accepted, also an attribute of another name",
        arguments: [
            "kSecAttrLabel=x", "kSecAttrComment=", "kSecAttrAccessible=AfterFirstUnlock", "kSecAttrIsInvisible=1",
            "kSecAttrCreator=aapl", "kSecAttrGeneric=\u{0}", "color=blue", "xdg.comment=x",
        ])
    func accepted(text: String) throws {
        #expect(try refusal(text) == nil)
    }

    @Test(
        "E1: parts of the path, attributes of the system, unknown names and values that it cannot hold are refused",
        arguments: [
            "kSecAttrAccount=b", "kSecAttrService=b", "kSecAttrAccessGroup=g", "kSecAttrSynchronizable=1",
            "kSecAttrCreationDate=2020-01-01T00:00:00Z", "kSecAttrPersistentReference=x", "kSecAttrTokenID=x",
            "kSecAttrServer=h", "kSecClass=GenericPassword", "kSecAttrNone=x", "KSECATTRLABEL=x", "label=x", "labl=x",
            "kSecAttrAccessible=Never", "kSecAttrIsInvisible=2", "kSecAttrIsNegative=yes", "kSecAttrCreator=12345x",
        ])
    func refused(text: String) throws {
        #expect(try refusal(text)?.exitCode == .impossible)
    }

    @Test("a short name of a search is answered with the complete name")
    func suggestion() throws {
        #expect(try refusal("comment=x")?.message.contains("Did you mean kSecAttrComment?") == true)
        #expect(try refusal("kSecAttrAccessible=x")?.message.contains("WhenUnlocked") == true)
    }
}
