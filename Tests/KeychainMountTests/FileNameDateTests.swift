import Keychain
import Testing

@testable import KeychainMount

@Suite struct FileNameDateTests {
    @Test("S4: the name of a preserved file has the second in UTC, without separators")
    func text() {
        let date = KeychainDate(seconds: 1_795_239_848, nanoseconds: 999_999_999)
        #expect(FileNameDate.text(of: date) == "20261121T054408Z")
        #expect(FileNameDate.text(of: KeychainDate(seconds: 0)) == "19700101T000000Z")
    }
}
