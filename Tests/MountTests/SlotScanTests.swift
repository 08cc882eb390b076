import Foundation
import Keychain
import Testing

/// Looks for what slot changes leave in the memory of a daemon. Only root can look.
@Suite(.serialized) struct SlotScanTests {
    @Test(
        "H2, L5: slot changes leave no passphrase, key file, slot key or user key, old or new, and no key to a lock",
        arguments: Account.scanned)
    func slots(_ account: Account) throws {
        let passphrases = (0..<3).map { "canary \($0) \(UUID().uuidString)" }
        let mount = try ScannedMount(account, passphrase: passphrases[0])
        defer { mount.remove() }
        try mount.run("create", "--kdf", "test")
        let before = try KeyMaterial(environment: mount.environment, passphrase: passphrases[0])
        try mount.run("mount", mount.mountPoint)
        defer { _ = try? mount.run("unmount", mount.mountPoint) }
        let daemon = try mount.daemon()
        let keyFile = try changeSlots(mount, passphrases)
        let after = try KeyMaterial(environment: mount.copiedEnvironment(), passphrase: passphrases[2])
        var wanted = before.passing.renamed("before")
        for (name, key) in after.passing.renamed("after") { wanted[name] = key }
        for (index, text) in passphrases.enumerated() { wanted["passphrase \(index)"] = Array(text.utf8).hex }
        wanted["key file"] = keyFile.hex
        try #require(wanted.count >= 5 + 11 + 4)
        let fresh = after.wanted(KeyScanTests.lockable)
        // Of the new generation, in use already: else there is nothing to take away.
        #expect(try mount.scan(daemon, fresh) == fresh.keys.sorted())
        #expect(Set(fresh.values).isDisjoint(with: before.wanted(KeyScanTests.lockable).values))
        #expect(try mount.scan(daemon, wanted) == [])
        try mount.run("lock", mount.mountPoint)
        for keys in [wanted, fresh, before.wanted(KeyScanTests.lockable)] {
            #expect(try mount.scan(daemon, keys) == [])
        }
        // While locked it makes keys too.
        try mount.run("slot", "remove", "3", "--passphrase-file", mount.file(2), mount.mountPoint)
        let last = try KeyMaterial(environment: mount.copiedEnvironment(), passphrase: passphrases[2])
        #expect(try mount.scan(daemon, last.passing) == [])
        #expect(try mount.scan(daemon, last.wanted(KeyScanTests.lockable)) == [])
        let kept = last.wanted([.afterFirstUnlock, .always])
        #expect(try mount.scan(daemon, kept) == kept.keys.sorted())
    }

    /// Slot 2 gets the second passphrase, 3 a key file, and 1 the third; returns the key file's bytes.
    private func changeSlots(_ mount: ScannedMount, _ passphrases: [String]) throws -> [UInt8] {
        for index in 1...2 { try mount.shell("umask 077; printf '\(passphrases[index])' > '\(mount.file(index))'") }
        let keyFile = mount.home + "/key"
        try mount.run("slot", "add", "--new-passphrase-file", mount.file(1), mount.mountPoint)
        try mount.run("slot", "add", "--new-key-file", keyFile, mount.mountPoint)
        try mount.run(
            "slot", "change", "1", "--key-file", keyFile, "--new-passphrase-file", mount.file(2), mount.mountPoint)
        try mount.run("slot", "list", mount.mountPoint)
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: keyFile)))
    }
}

extension ScannedMount {
    fileprivate func file(_ index: Int) -> String { home + "/pass\(index)" }

    /// Of a copy of the keychain, which is whole after a change of slots: its log is empty.
    fileprivate func copiedEnvironment() throws -> [String: String] {
        var copied = environment
        copied["XDG_DATA_HOME"] = home + "/copy"
        try shell("rm -rf '\(home)/copy'; cp -a '\(home)/data' '\(home)/copy'; rm -f '\(home)'/copy/keychainfs/*-wal")
        return copied
    }
}

extension [String: String] {
    fileprivate func renamed(_ prefix: String) -> [String: String] {
        Dictionary(uniqueKeysWithValues: map { (prefix + " " + $0.key, $0.value) })
    }
}

extension [UInt8] {
    fileprivate var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
