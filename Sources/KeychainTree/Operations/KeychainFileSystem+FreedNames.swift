import FileSystemCore
import Keychain
import Logging
import Synchronization
import SystemPackage

extension KeychainFileSystem {
    /// Records the item of a name that a process has freed (F5).
    ///
    /// Best effort: if it cannot be recorded, an item that gets the name is a new one.
    func freed(_ name: CanonicalName, of item: Item, livingOnAs row: RowID? = nil, by process: Requester) {
        guard let tag = tag(name, item.directory) else { return }
        // A process without permission to read the item must not get its attributes in this way.
        guard let identity = process.identity, options.mayRead(item.file, process.caller) else {
            return freedNames.withLock { $0.forget(tag) }
        }
        do throws(KeychainFault) {
            let former = try PredecessorItem(item, livingOnAs: row, keys: stagingKeys)
            freedNames.withLock {
                $0.free(tag, by: identity, leaving: former, weight: former.weight, at: host.uptime)
            }
            // A lock in the meantime has not seen the entry.
            if !keychain.keys.isAvailable(item.protection) { freedNames.withLock { $0.forget(tag) } }
        } catch {
            freedNames.withLock { $0.forget(tag) }
            log.debug("the item of a freed name is not remembered", metadata: ["errno": "\(error.errno.rawValue)"])
        }
    }

    /// Returns the requester of a caller. Must not be called while holding a lock that a process may need for which
    /// `/proc` waits.
    func process(of caller: Caller) -> Requester {
        Requester(caller: caller, identity: host.process(ofThread: caller.processID))
    }

    /// Returns the predecessor of a name that is being created, if the same process has freed it recently.
    func reclaimFreedName(
        _ name: CanonicalName, in directory: RowID, by process: @autoclosure () -> ProcessIdentity?
    ) -> FreedName? {
        guard freedNames.withLock({ $0.count }) > 0, let tag = tag(name, directory),
            freedNames.withLock({ $0.contains(tag) })
        else { return nil }
        let process = process()
        return freedNames.withLock { $0.take(tag, by: process, at: host.uptime) }
    }

    /// Forgets a freed name that has been used in another way.
    func take(_ name: CanonicalName, in directory: RowID) {
        guard freedNames.withLock({ $0.count }) > 0, let tag = tag(name, directory) else { return }
        freedNames.withLock { $0.forget(tag) }
    }

    /// Returns a freed name after a failed creation.
    func returnFreedName(_ freed: FreedName?) {
        guard let freed else { return }
        freedNames.withLock { $0.putBack(freed, at: host.uptime) }
    }

    /// Returns the attributes that a commit inherits; nil after a lock, which wipes them.
    func inheritance(of freed: FreedName?) -> Inheritance? {
        guard let freed else { return nil }
        do throws(KeychainFault) {
            return Inheritance(item: try freed.former.item(), row: freed.former.row)
        } catch {
            return nil
        }
    }

    /// Records that the item of `row` continues a predecessor, which has another reference now than its file has
    /// cached, unless the predecessor itself was restored.
    func didInherit(_ inheritance: Inheritance?, by successor: RowID) {
        guard let row = inheritance?.row, row != successor else { return }
        table.withLock { $0.knownItem(row)?.file }?.marks.noteStale()
    }

    private func tag(_ name: CanonicalName, _ directory: RowID) -> [UInt8]? {
        do throws(KeychainFault) { return try keychain.keys.itemTag(directory: directory, name: name) } catch {
            return nil
        }
    }
}
