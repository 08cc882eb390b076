import Foundation
import Keychain
import Testing

/// Searches the memory of a daemon for keys of removed slots and former generations. This requires root.
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
        // The keys of the new generation are in use: otherwise a lock would have nothing to wipe.
        #expect(try mount.scan(daemon, fresh) == fresh.keys.sorted())
        let renewed = KeyScanTests.lockable.filter { !$0.isThisDeviceOnly }
        #expect(Set(after.wanted(renewed).values).isDisjoint(with: before.wanted(renewed).values))
        #expect(try mount.scan(daemon, wanted) == [])
        try mount.run("lock", mount.mountPoint)
        for keys in [wanted, fresh, before.wanted(KeyScanTests.lockable)] {
            #expect(try mount.scan(daemon, keys) == [])
        }
        // A slot change while locked creates keys too.
        try mount.run("slot", "remove", "3", "--passphrase-file", mount.file(2), mount.mountPoint)
        let last = try KeyMaterial(environment: mount.copiedEnvironment(), passphrase: passphrases[2])
        #expect(try mount.scan(daemon, last.passing) == [])
        #expect(try mount.scan(daemon, last.wanted(KeyScanTests.lockable)) == [])
        let kept = last.wanted([.afterFirstUnlock, .always])
        #expect(try mount.scan(daemon, kept) == kept.keys.sorted())
    }

    /// Sets the second passphrase for slot 2, a key file for slot 3 and the third passphrase for slot 1; returns the
    /// key file's bytes.
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

    /// The environment of a copy of the keychain, which is complete after a change of slots because its log is empty.
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
