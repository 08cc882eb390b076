import Keychain
import KeychainStorage

extension KeychainPath {
    /// Checks a keychain that is not mounted and, if it is intact, replaces its file with a copy without free pages.
    ///
    /// - Returns: The result of the check. Nothing was changed if it found damage.
    package func compact(unlocking source: UnlockSource, showMessage: (String) -> Void) throws(CLIError) -> CheckResult
    {
        if let mountPoint { throw inUse(mountedAt: mountPoint) }
        let opened = try open(isReadOnly: false)
        defer { opened.keychain.close() }
        var result = try checked(opened, unlocking: source, showMessage: showMessage)
        guard result.isConsistent else { return result }
        do throws(StoreOpenError) {
            result.compactedBytes = try opened.close(compacting: .onRequest)
        } catch .diskFull {
            throw CLIError(
                .diskFull,
                "There is not enough free space for a copy of \(path). Nothing was changed. Free some and try again."
            )
        } catch {
            throw CLIError(error, keychain: path)
        }
        return result
    }
}

extension OpenedKeychain {
    /// Closes the keychain after a compaction of its file, see ``SQLiteRecordStore/close(compacting:)``. A keychain that is known to be
    /// damaged is closed without one.
    func close(compacting policy: CompactionPolicy) throws(StoreOpenError) -> Int {
        guard keychain.integrity != .damaged else {
            keychain.close()
            return 0
        }
        keychain.keys.close()
        return try store.close(compacting: policy)
    }
}
