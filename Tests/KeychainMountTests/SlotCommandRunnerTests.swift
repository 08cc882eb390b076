import Foundation
import SecretCrypto
import Testing

@testable import Keychain
@testable import KeychainMount

/// L5: the fate of a new key file, for each result of the slot command.
@Suite("changes of slots")
struct SlotCommandRunnerTests {
    /// A backend with scripted results that counts its calls.
    private final class Host: SlotBackend {
        var answer: Result<SlotChangeResult?, CLIError>
        /// The kinds of the slots, from number 1 on.
        var kinds = [SlotKind.passphrase, .keyFile]
        private(set) var lists = 0
        private(set) var runs: [SlotRequest] = []
        /// Bytes of the new secret, as it came.
        private(set) var secret: [UInt8] = []

        init(_ answer: Result<SlotChangeResult?, CLIError>) { self.answer = answer }

        var keychainName: String { "the keychain of a test" }

        func list() throws(CLIError) -> SlotListResult {
            lists += 1
            let summaries = kinds.enumerated().map { number, kind in
                SlotSummary(id: Int64(number + 1), kind: kind, cost: nil)
            }
            return SlotListResult(summaries, keptCost: nil)
        }

        func verify(_ authority: borrowing UnlockSecret) throws(CLIError) {}

        func run(
            _ request: SlotRequest, by authority: borrowing UnlockSecret, new: borrowing UnlockSecret?
        ) throws(CLIError) -> SlotChangeResult? {
            runs.append(request)
            switch new {
            case .some(let new): secret = [UInt8](copying: new.bytes.bytes)
            case .none: secret = []
            }
            return try answer.get()
        }
    }

    private let directory: String
    private var keyFile: String { directory + "/key" }
    private var contents: [UInt8]? { FileManager.default.contents(atPath: keyFile).map { [UInt8]($0) } }

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("slots-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        try Data("correct\n".utf8).write(to: URL(fileURLWithPath: directory + "/pass"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: directory + "/pass")
    }

    private func remove() { try? FileManager.default.removeItem(atPath: directory) }

    private var secrets: SlotSecrets {
        SlotSecrets(
            passphraseFile: directory + "/pass", variable: nil, keyFile: nil, usesRecoveryKey: false,
            newPassphraseFile: nil, newKeyFile: keyFile, acceptsWeakKeyFile: false)
    }

    private enum SlotAccess: CaseIterable, CustomTestStringConvertible {
        case add, change

        var testDescription: String { "\(self)" }
    }

    /// Runs a command. Returns its error and its output.
    private func edit(_ host: Host, _ way: SlotAccess, confirm: Bool = false) -> (failure: CLIError?, output: String) {
        var output: [String] = []
        let editing = SlotCommandRunner(host) { output.append($0) }
        do throws(CLIError) {
            switch way {
            case .add: try editing.add(.keyfile, secrets)
            case .change: try editing.change(2, nil, secrets, cost: nil) { confirm }
            }
            return (nil, output.joined(separator: "\n"))
        } catch {
            return (error, output.joined(separator: "\n"))
        }
    }

    @Test("L5: the key file of two secrets never becomes a slot that opens without the passphrase")
    func twoSecrets() {
        defer { remove() }
        let host = Host(.success(SlotChangeResult(SlotChange(id: 4))))
        host.kinds = [.passphrase, .passphraseAndKeyFile]
        let editing = SlotCommandRunner(host) { _ in }
        func failure(_ body: () throws(CLIError) -> Void) -> ExitCode? {
            do throws(CLIError) { try body() } catch { return error.exitCode }
            return nil
        }
        func secrets(keyFile: String?, newPassphraseFile: String? = nil, newKeyFile: String? = nil) -> SlotSecrets {
            SlotSecrets(
                passphraseFile: directory + "/pass", variable: nil, keyFile: keyFile, withPassphrase: keyFile != nil,
                usesRecoveryKey: false, newPassphraseFile: newPassphraseFile, newKeyFile: newKeyFile,
                acceptsWeakKeyFile: false)
        }
        // The file that unlocks is not the new one.
        #expect(failure { () throws(CLIError) in try editing.add(.keyfile, secrets(keyFile: keyFile)) } == .usage)
        // A part of the new secret is named.
        let passphrase = secrets(keyFile: nil, newPassphraseFile: directory + "/pass")
        let file = secrets(keyFile: nil, newKeyFile: keyFile)
        for part in [passphrase, file, secrets(keyFile: nil)] {
            #expect(
                failure { () throws(CLIError) in try editing.change(2, nil, part, cost: nil) { true } } == .usage)
        }
        #expect(host.runs.isEmpty && contents == nil)
        #expect(failure { () throws(CLIError) in try editing.change(2, .keyfile, file, cost: nil) { true } } == nil)
        #expect(host.runs.count == 1 && host.secret.count == 64)
        let both = secrets(keyFile: nil, newPassphraseFile: directory + "/pass", newKeyFile: directory + "/other")
        #expect(failure { () throws(CLIError) in try editing.change(2, nil, both, cost: nil) { true } } == nil)
        // The size of the passphrase, the passphrase and the key file.
        #expect(host.runs.count == 2 && host.secret.count == 4 + 7 + 64)
    }

    private static let lost: [ExitCode] = [
        .failure, .diskFull, .readOnly, .noAnswer, .notMounted, .interrupted,
    ]

    @Test("a key file that may open a slot is kept and reported", arguments: lost, SlotAccess.allCases)
    private func kept(code: ExitCode, way: SlotAccess) throws {
        defer { remove() }
        let host = Host(.failure(CLIError(code, "No answer.")))
        let failure = try #require(edit(host, way).failure)
        #expect(failure.exitCode == code)
        #expect(failure.message.contains("No answer.") && failure.message.contains("key file \(keyFile)"))
        #expect(failure.message.contains("keep it"))
        #expect(contents?.count == 64 && contents == host.secret)
    }

    @Test(
        "a key file that certainly opens no slot is removed",
        arguments: ExitCode.allCases.filter { !lost.contains($0) && $0 != .success }, SlotAccess.allCases)
    private func removed(code: ExitCode, way: SlotAccess) throws {
        defer { remove() }
        let host = Host(.failure(CLIError(code, "No.")))
        let failure = try #require(edit(host, way).failure)
        #expect(failure.exitCode == code && failure.message == "No.")
        #expect(host.runs.count == 1 && contents == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["pass"])
    }

    @Test("an existing key file is never modified", arguments: ExitCode.allCases)
    func foreign(code: ExitCode) throws {
        defer { remove() }
        let own = [UInt8](0..<40)
        try Data(own).write(to: URL(fileURLWithPath: keyFile))
        let host = Host(.failure(CLIError(code, "No.")))
        #expect(edit(host, .add).failure?.message == "No.")
        #expect(contents == own && host.secret == own)
    }

    @Test("a new slot and its key file are both reported", arguments: SlotAccess.allCases)
    private func made(way: SlotAccess) throws {
        defer { remove() }
        let host = Host(
            .success(try SlotChangeResult(json: Array(#"{"slot": 2, "deletedItems": 0, "lostSlots": []}"#.utf8))))
        let (failure, output) = edit(host, way)
        #expect(failure == nil && contents?.count == 64 && contents == host.secret)
        #expect(output.contains("created the key file \(keyFile)") && output.contains("slot 2 (keyfile)"))
        #expect(host.lists == 1)
    }

    @Test("a deletion of items needs consent; without it no key file remains, with it the file stays")
    func consent() throws {
        defer { remove() }
        let host = Host(.success(nil))
        #expect(edit(host, .change).failure?.exitCode == .slotRefused)
        #expect(host.runs == [.change(2, cost: nil, deletesItems: false)] && contents == nil)
        #expect(edit(host, .change, confirm: true).failure?.exitCode == .slotRefused)
        #expect(host.runs.last == .change(2, cost: nil, deletesItems: true) && contents == nil)
    }

    @Test("an unknown slot is reported before any file is created")
    func unknown() throws {
        defer { remove() }
        let host = Host(.success(nil))
        let editing = SlotCommandRunner(host) { _ in }
        #expect {
            try editing.change(3, nil, secrets, cost: nil) { true }
        } throws: { ($0 as? CLIError)?.exitCode == .slotRefused }
        #expect(host.runs.isEmpty && contents == nil)
    }
}
