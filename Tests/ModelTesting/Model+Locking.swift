import FileSystemCore
import SystemPackage

extension Model {
    /// The classes that a file's contents need: a pending one's also that of what it goes on with.
    func classes(_ file: File) -> [ItemClass] {
        [file.item.itemClass] + (file.isPending ? file.former.map { [$0.item.itemClass] } ?? [] : [])
    }

    func answersByName(_ file: File) -> Bool {
        !isLocked || file.item.itemClass.opensWhileLocked
    }

    /// Whether what is open goes on (L2).
    func answersByDescriptor(_ file: File) -> Bool {
        guard isLocked, !file.item.itemClass.opensWhileLocked else { return true }
        return file.isOpen && goesOn(file)
    }

    private func goesOn(_ file: File) -> Bool {
        classes(file).allSatisfy { $0.opensWhileLocked || $0 == .unlessOpen && file.isOpen }
    }

    /// L2: what is staged of items that are not available is dropped, and descriptors answer ENOKEY.
    mutating func lock() {
        isLocked = true
        freed = []
        closeSnapshots()
        for (id, file) in files where !goesOn(file) {
            let isUncommitted = file.staged?.isUncommitted == true
            // What has no name has its value nowhere else.
            if isUncommitted || file.place == nil { files[id]?.losses += 1 }
            if isUncommitted { files[id]?.epoch += 1 }
            files[id]?.staged = nil
            if file.isPending { dropPending(id) }
        }
    }

    /// A value goes with the class that it was sealed under, and with the one that its item has now.
    private mutating func closeSnapshots() {
        for (id, open) in opens {
            guard let snapshot = open.snapshot, let file = files[open.file] else { continue }
            let survives = snapshot.classes.allSatisfy { $0.opensWhileLocked || $0 == .unlessOpen }
            if !survives || !goesOn(file) { opens[id]?.snapshot?.isClosed = true }
        }
    }

    /// A creation that was never committed is gone, as if it had not been.
    mutating func dropPending(_ id: FileID) {
        guard let place = files[id]?.place else { return }
        names[place.directory]?[place.name] = nil
        files[id]?.place = nil
        files[id]?.isPending = false
        files[id]?.former = nil
    }
}
