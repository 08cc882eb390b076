import FileSystemCore
import SystemPackage

extension Model {
    /// The classes that a file's contents need: a pending one's also that of what it goes on with.
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

    /// What can be foreseen of a commit (F1).
    func checkSpace() throws(Errno) {
        if isFull { throw .noSpace }
    }

    /// What cannot.
    func checkCommits() throws(Errno) {
        if isFailing { throw .noSpace }
    }

    /// The same for a change of an item, which is staged where there is nothing committed yet.
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

    /// Whether what is open goes on (L2).
    func answersByDescriptor(_ file: File) -> Bool {
        answersByName(file) || file.isOpen && staysUsable(file)
    }

    private func staysUsable(_ file: File) -> Bool {
        // What is not of that class itself, and only goes on with an item that was, ends with its keys.
        let isOpenOver = file.isOpen && shownItem(file).itemClass == .unlessOpen
        let stored = file.adopted == nil ? [] : [file.item.itemClass]
        return (classes(file) + stored).allSatisfy { $0.opensWhileLocked || $0 == .unlessOpen && isOpenOver }
    }

    /// L2: what is staged of items that are not available is dropped, and descriptors answer ENOKEY.
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

    /// A value goes with the class that it was sealed under, and with the one that its item has now.
    private mutating func closeSnapshots() {
        for (id, open) in opens {
            guard let snapshot = open.snapshot, let file = files[open.file] else { continue }
            let survives = snapshot.classes.allSatisfy { $0.opensWhileLocked || $0 == .unlessOpen }
            if !survives || !staysUsable(file) { opens[id]?.snapshot?.isClosed = true }
        }
    }

    /// What has come to the name meanwhile has it now.
    mutating func leaveName(of id: FileID) {
        guard let place = files[id]?.place else { return }
        let contested = files[id]?.contested
        names[place.directory]?[place.name] = contested
        if let contested { files[contested]?.place = place }
        files[id]?.contested = nil
    }

    /// A creation that was never committed is gone, as if it had not been.
    mutating func dropPending(_ id: FileID) {
        leaveName(of: id)
        files[id]?.place = nil
        files[id]?.isPending = false
        files[id]?.former = nil
    }
}
