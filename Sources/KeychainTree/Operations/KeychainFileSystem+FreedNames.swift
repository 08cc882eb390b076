import FileSystemCore
import Keychain
import Logging
import Synchronization
import SystemPackage

extension KeychainFileSystem {
    /// A name has been freed by a process: remembers the item that it stood for (F5).
    ///
    /// Nothing depends on it: where it cannot be remembered, what takes the name is a new item.
    func freed(_ name: CanonicalName, of item: Item, livingOnAs row: RowID? = nil, by process: Requester) {
        guard let tag = tag(name, item.directory) else { return }
        // Who may not read an item does not come by its attributes in this way.
        guard let identity = process.identity, options.mayRead(item.file, process.caller) else {
            return freedNames.withLock { $0.forget(tag) }
        }
        do throws(KeychainFault) {
            let former = try PredecessorItem(item, livingOnAs: row, keys: stagingKeys)
            freedNames.withLock {
                $0.free(tag, by: identity, leaving: former, weight: former.weight, at: host.uptime)
            }
            // A lock that came meanwhile has not seen it.
            if !keychain.keys.isAvailable(item.protection) { freedNames.withLock { $0.forget(tag) } }
        } catch {
            freedNames.withLock { $0.forget(tag) }
            log.debug("the item of a freed name is not remembered", metadata: ["errno": "\(error.errno.rawValue)"])
        }
    }

    /// Not to be asked while a lock is held that somebody may need whom `/proc` waits for.
    func process(of caller: Caller) -> Requester {
        Requester(caller: caller, identity: host.process(ofThread: caller.processID))
    }

    /// A name is being taken: what it stood for, if this is the same process and soon enough.
    func reclaimFreedName(
        _ name: CanonicalName, in directory: RowID, by process: @autoclosure () -> ProcessIdentity?
    ) -> FreedName? {
        guard freedNames.withLock({ $0.count }) > 0, let tag = tag(name, directory),
            freedNames.withLock({ $0.contains(tag) })
        else { return nil }
        let process = process()
        return freedNames.withLock { $0.take(tag, by: process, at: host.uptime) }
    }

    /// A name has been taken in another way, and stands for something else now.
    func take(_ name: CanonicalName, in directory: RowID) {
        guard freedNames.withLock({ $0.count }) > 0, let tag = tag(name, directory) else { return }
        freedNames.withLock { $0.forget(tag) }
    }

    /// Taking a name has come to nothing.
    func returnFreedName(_ freed: FreedName?) {
        guard let freed else { return }
        freedNames.withLock { $0.putBack(freed, at: host.uptime) }
    }

    /// What a commit is to take over; nil after a lock, which takes it away.
    func inheritance(of freed: FreedName?) -> Inheritance? {
        guard let freed else { return nil }
        do throws(KeychainFault) {
            return Inheritance(item: try freed.former.item(), row: freed.former.row)
        } catch {
            return nil
        }
    }

    /// The item of `row` goes on with a former one, which has another reference now than its file remembers; unless it is
    /// the former item itself that has come back.
    func didInherit(_ inheritance: Inheritance?, by successor: RowID) {
        guard let row = inheritance?.row, row != successor else { return }
        table.withLock { $0.knownItem(row)?.file }?.staleness.note()
    }

    private func tag(_ name: CanonicalName, _ directory: RowID) -> [UInt8]? {
        do throws(KeychainFault) { return try keychain.keys.itemTag(directory: directory, name: name) } catch {
            return nil
        }
    }
}
