import FileSystemCore
import SystemPackage

extension Model {
    /// The classes whose keys a file's data needs; for a pending file also the class of the former item that it
    /// continues.
    func classes(_ file: File) -> [ItemClass] {
        [shownItem(file).itemClass] + (file.isPending ? file.former.map { [$0.item.itemClass] } ?? [] : [])
    }

    var isLocked: Bool { state != .unlocked }

    /// Whether items of the class can be opened.
    func isAvailable(_ itemClass: ItemClass) -> Bool {
        switch state {
        case .beforeFirstUnlock: itemClass == .always
        case .unlocked: true
        case .locked: itemClass.opensWhileLocked
        }
    }

    func answersByName(_ file: File) -> Bool { isAvailable(file.item.itemClass) }

    /// Before the first unlock nothing is changed.
    func checkWritable() throws(Errno) {
        if state == .beforeFirstUnlock { throw .noKey }
    }

    /// Throws the errors of a commit that are known in advance (F1).
    func checkSpace() throws(Errno) {
        if isFull { throw .noSpace }
    }

    /// Throws the errors of a commit that are not known in advance.
    func checkCommits() throws(Errno) {
        if isFailing { throw .noSpace }
    }

    /// Checks a change of an item, which is staged if the item has no committed value yet.
    func checkCommits(_ id: FileID) throws(Errno) {
        if files[id]?.isPending == false { try checkCommits() }
    }

    /// Whether there is an Always item at that path or below.
    func holdsAlways(_ path: String) -> Bool {
        directories.contains { directory in
            guard directory.key == path || directory.key.hasPrefix(path + "/") else { return false }
            return names[directory.value, default: [:]].values.contains { files[$0]?.item.itemClass == .always }
        }
    }

    /// Whether the name of a directory answers.
    func isVisible(_ path: String) -> Bool { state != .beforeFirstUnlock || holdsAlways(path) }

    /// Whether operations on the open file still work (L2).
    func answersByDescriptor(_ file: File) -> Bool {
        answersByName(file) || file.isOpen && staysUsable(file)
    }

    private func staysUsable(_ file: File) -> Bool {
        // A file of another class that only continues a former item loses its keys with it.
        let isOpenOver = file.isOpen && shownItem(file).itemClass == .unlessOpen
        let stored = file.adopted == nil ? [] : [file.item.itemClass]
        return (classes(file) + stored).allSatisfy { $0.opensWhileLocked || $0 == .unlessOpen && isOpenOver }
    }

    /// L2: staged values of unavailable items are discarded, and descriptors fail with ENOKEY.
    mutating func lock() {
        guard state != .beforeFirstUnlock else { return }
        state = .locked
        freed = []
        closeSnapshots()
        for (id, file) in files where !staysUsable(file) {
            let isUncommitted = file.staged?.isUncommitted == true
            // What has no name has its value nowhere else.
            if isUncommitted || file.place == nil { files[id]?.discards += 1 }
            if isUncommitted { files[id]?.epoch += 1 }
            files[id]?.staged = nil
            dropAdopted(id)
            if file.isPending { dropPending(id) }
        }
    }

    /// Closes the values whose keys a lock wipes: values sealed under such a class, and values of items that have such
    /// a class now.
    private mutating func closeSnapshots() {
        for (id, open) in opens {
            guard let snapshot = open.snapshot, let file = files[open.file] else { continue }
            let survives = snapshot.classes.allSatisfy { $0.opensWhileLocked || $0 == .unlessOpen }
            if !survives || !staysUsable(file) { opens[id]?.snapshot?.isClosed = true }
        }
    }

    /// An item that has taken the name in the meantime keeps it.
    mutating func leaveName(of id: FileID) {
        guard let place = files[id]?.place else { return }
        let contested = files[id]?.contested
        names[place.directory]?[place.name] = contested
        if let contested { files[contested]?.place = place }
        files[id]?.contested = nil
    }

    /// Removes a creation that was never committed, as if it had not happened.
    mutating func dropPending(_ id: FileID) {
        leaveName(of: id)
        files[id]?.place = nil
        files[id]?.isPending = false
        files[id]?.former = nil
    }
}
