import Testing

@testable import KeychainMount

@Suite struct SnapshotNameTests {
    @Test("S1: a client renames or removes only files with the name of a daemon's copy")
    func names() {
        #expect(SnapshotWriter.canBeCopy("/home/u/.keychainfs-backup-5d41402abc4b2a76-1f"))
        for path in ["/etc/passwd", "", "/", "/.keychainfs-backup-1/passwd", "login.keychain", ".keychainfs-backup"] {
            #expect(!SnapshotWriter.canBeCopy(path), "\(path)")
        }
    }
}
