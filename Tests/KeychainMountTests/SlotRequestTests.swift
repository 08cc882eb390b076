import Keychain
import KeychainTesting
import SecretCrypto
import Testing

@testable import KeychainMount

/// L5, H5: lines and secrets of slot commands, as any client may write them to the control file.
@Suite struct SlotRequestTests {
    @Test("every request reads back as it was written")
    func roundTrip() {
        let cost = Argon2id.Cost(passes: 4, memory: 1 << 30)
        let requests: [SlotRequest] = [
            .verify, .add, .remove(3, deletesItems: false), .remove(3, deletesItems: true),
            .change(7, cost: nil, deletesItems: false), .change(7, cost: cost, deletesItems: true),
            .change(.max, cost: cost, deletesItems: false),
        ]
        for request in requests { #expect(SlotRequest(line: request.line) == request, "\(request.line)") }
        #expect(requests.map(\.deletingItems).map(\.mayDeleteItems) == requests.map(\.mayDeleteItems))
        let commands = [SlotKind.passphrase, .recoveryKey, .keyFile, .passphraseAndKeyFile].flatMap { kind in
            [true, false].map { UnlockRequest(kind: kind, acceptsRollback: $0) }
        }
        for command in commands { #expect(UnlockRequest(line: command.line) == command, "\(command.line)") }
        #expect(Set(commands.map(\.line)).count == 8)
        #expect(UnlockRequest(line: "unlock") == UnlockRequest(kind: .passphrase, acceptsRollback: false))
    }

    @Test("invalid commands are not decoded")
    func refused() {
        let lines = [
            "", "slot", "slot ", "slot list", "slots add", "slot add 1", "slot verify x", "slot remove",
            "slot remove x",
            "slot remove 1 2", "slot remove 99999999999999999999", "slot change", "slot change 1 2",
            "slot change 1 2 3 4",
            "slot change 1 -2 3", "slot change 1 2 x", "slot remove 1 --delete", "SLOT add",
            "slot change 1 99999999999999999999 1",
        ]
        for line in lines { #expect(SlotRequest(line: line) == nil, "\(line)") }
        for line in ["", "lock", "unlock x", "unlock --recovery --key-file", "unlocked", "unlock --recovery x"] {
            #expect(UnlockRequest(line: line) == nil, "\(line)")
        }
    }

    @Test("two secrets come through as they are")
    func frames() throws {
        let passphrase = UnlockSecret(passphrase: try SecretBytes(text: "correct horse"))
        let keyFile = try UnlockSecret(
            keyFile: SecretBytes(copying: [UInt8](repeating: 7, count: 65_536).rawSpan))
        let frames = try UnlockFrames(passphrase, keyFile)
        var offset = 0
        let first = try UnlockFrames.read(frames.bytes.bytes, at: &offset)
        let second = try UnlockFrames.read(frames.bytes.bytes, at: &offset)
        let areSame = first.bytes.isEqual(to: passphrase.bytes) && second.bytes.isEqual(to: keyFile.bytes)
        let kinds = [first.kind, second.kind]
        #expect(areSame && kinds == [.passphrase, .keyFile] && offset == frames.bytes.count)
    }

    @Test(
        "H5: truncated, oversized or unknown secrets, and those that cannot be typed, are refused",
        arguments: [
            [], [1], [1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 2, 0, 0, 0, 65], [0, 1, 0, 0, 0, 65], [7, 1, 0, 0, 0, 65],
            [4, 1, 0, 0, 0, 65], [1, 255, 255, 255, 255, 65], [1, 0, 0, 0, 128], [3, 1, 0, 0, 0, 65],
        ] as [[UInt8]])
    func badFrames(bytes: [UInt8]) {
        #expect(throws: KeychainFault.param) {
            var offset = 0
            _ = try UnlockFrames.read(bytes.rawSpan, at: &offset).kind
        }
    }
}
