import Keychain
import KeychainStorage

extension KeychainFile {
    /// Checks a keychain that is not mounted and, if it is sound, replaces its file with a copy without free pages.
    ///
    /// - Returns: What the check found. Nothing was changed if that is not sound.
    package func compact(unlocking source: UnlockSource, say: (String) -> Void) throws(Failure) -> CheckAnswer {
        if let mountPoint { throw inUse(mountedAt: mountPoint) }
        let opened = try open(isReadOnly: false)
        defer { opened.keychain.close() }
        var answer = try checked(opened, unlocking: source, say: say)
        guard answer.isSound else { return answer }
        do throws(StoreOpenError) {
            answer.compactedBytes = try opened.close(compacting: .onRequest)
        } catch .diskFull {
            throw Failure(
                .diskFull, "There is no room beside \(path) for its copy. Nothing was changed. Make room and try again."
            )
        } catch {
            throw Failure(error, keychain: path)
        }
        return answer
    }
}

extension OpenedKeychain {
    /// Closes the keychain after a compaction of its file, see ``SQLiteRecordStore/close(compacting:)``. A keychain that is known to be
    /// damaged is closed without one.
    func close(compacting policy: CompactionPolicy) throws(StoreOpenError) -> Int {
        let isDamaged = keychain.integrity == .damaged
        keychain.keys.close()
        defer { keychain.close() }
        return isDamaged ? 0 : try store.close(compacting: policy)
    }
}
