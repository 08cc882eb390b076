import KeychainTesting
import SecItemTesting
import Testing

@testable import Keychain

@Suite("Status numbers, reference 4")
struct SecurityStatusTests {
    private static let failures: [(KeychainFault, Int32)] = [
        (.itemNotFound, -25300), (.duplicateItem, -25299), (.interactionNotAllowed, -25308), (.authFailed, -25293),
        (.param, -50), (.noSuchAttr, -25303), (.readOnlyAttr, -25309), (.dataTooLarge, -25302),
        (.attributesTooLarge, -25302), (.decode, -26275), (.rowsDiffer, -26275), (.diskFull, -34), (.readOnly, -25292),
        (.notAvailable, -25291), (.rolledBack(kept: 2, found: 1), -25291), (.untrustedCommitNumber, -25291),
        (.replacedUserKey, -25291), (.inUse(processID: 0), -25291), (.allocate, -108), (.notAKeychain, -25295),
        (.unacceptableCost, -25295),
        (.unknownFormat(2), -25310), (.staleItem, -26276), (.directoryNotEmpty, -26276), (.io(5), -36),
    ]

    @Test("4: errors of the keychain are mapped to Apple's numbers", arguments: failures)
    func numbers(_ failure: KeychainFault, _ number: Int32) {
        #expect(SecurityStatus(failure).rawValue == number)
    }

    @Test("4: and so is what is wrong with a query")
    func queries() {
        #expect(SecurityStatus.unimplemented.rawValue == -4)
        #expect(SecurityStatus.missingEntitlement.rawValue == -34018)
        #expect(SecurityStatus.noSuchClass.rawValue == -25306)
    }

    @Test("a store that is closed or read-only")
    func store() throws {
        let fixture = try QueryFixture()
        #expect(fixture.client.add(.generic("s", "a")).status == 0)
        let readOnly = try KeyRingFixture(copying: fixture.keyRingFixture.store.records, isReadOnly: true)
        try readOnly.unlock()
        let client = try QueryFixture(readOnly).client
        #expect(client.status(.generic("s", "a")) == 0)
        #expect(client.add(.generic("s", "b")).status == -25292)
        #expect(client.update(.generic("s", "a"), [kSecAttrLabel: "l"]) == -25292)
        #expect(client.delete(.generic("s", "a")) == -25292)
        fixture.keychain.close()
        #expect(fixture.client.status(.generic("s", "a")) != 0)
    }
}
