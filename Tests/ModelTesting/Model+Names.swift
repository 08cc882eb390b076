import FileSystemCore
import SystemPackage

/// F5, F6: making, renaming and removing names.
extension Model {
    /// F2: the name exists for all processes from now on, without a committed item.
    mutating func create(_ place: Place, _ caller: Symbol) throws(Errno) -> FileID {
        let directory = try directory(place.directory)
        let itemClass = directoryFacts[directory]?.defaultClass ?? .whenUnlocked
        guard !isLocked || itemClass.canBeAddedWhileLocked else { throw .noKey }
        try checkSpace()
        let id = symbol()
        let item = Item(row: symbol(), reference: symbol(), created: symbol(), itemClass: itemClass)
        files[id] = File(
            inode: symbol(), place: (directory, place.name), item: item, permissions: 0o600, modified: .recently,
            isPending: true, staged: Staged(bytes: [], isUncommitted: true),
            former: takeFreed(place.name, directory, caller))
        names[directory, default: [:]][place.name] = id
        return id
    }

    /// mknod(2): a create and a commit (T5).
    mutating func make(_ place: Place, _ caller: Symbol) throws(Errno) {
        guard try existing(place) == nil else { throw .fileExists }
        let id = try create(place, caller)
        do throws(Errno) {
            try commit(id)
        } catch {
            returnFreedName(files[id]?.former)
            dropPending(id)
            throw error
        }
    }

    mutating func unlink(_ place: Place, _ caller: Symbol) throws(Errno) {
        let id = try file(place)
        try checkWritable()
        guard let file = files[id] else { return }
        if file.isPending {
            returnFreedName(file.former)
            return dropPending(id)
        }
        try checkCommits()
        detach(id)
        free(try directory(place.directory), place.name, file.item, movedTo: nil, caller)
    }

    mutating func detach(_ id: FileID) {
        guard let place = files[id]?.place else { return }
        if names[place.directory]?[place.name] == id { names[place.directory]?[place.name] = nil }
        files[id]?.place = nil
        // From now on only the shown item is stored.
        keepAdopted(id)
    }

    // MARK: Renaming

    mutating func rename(_ from: Place, _ to: Place, _ flags: RenameFlags, _ caller: Symbol) throws(Errno) {
        if flags.contains([.noReplace, .exchange]) { throw .invalidArgument }
        let newDirectory = try directory(to.directory)
        _ = try directory(from.directory)
        let source = try file(from)
        let target = try existing(to)
        if flags.contains(.noReplace), target != nil { throw .fileExists }
        if flags.contains(.exchange), target == nil { throw .noSuchFileOrDirectory }
        if source == target { return }
        guard ServicePath(from.directory).itemClass == ServicePath(to.directory).itemClass else { throw .crossDevice }
        try checkWritable()
        if flags.contains(.exchange), let target { return try exchange(source, target) }
        guard let target else { return try move(source, to: (newDirectory, to.name), caller) }
        try checkCommits()
        try replace(target, with: source, caller)
    }

    private mutating func move(_ id: FileID, to place: (DirectoryID, String), _ caller: Symbol) throws(Errno) {
        let next = takeFreed(place.1, place.0, caller)
        do throws(Errno) {
            try checkCommits()
        } catch {
            returnFreedName(next)
            throw error
        }
        move(id, to: place, next, caller)
    }

    /// Moves a file to a free name. The staged value and the former item of the name are committed with it.
    private mutating func move(
        _ id: FileID, to place: (DirectoryID, String), _ next: Freed?, _ caller: Symbol
    ) {
        guard let file = files[id], let old = file.place else { return }
        let isRemembered = !file.isPending || file.former != nil
        keepAdopted(id)
        commitWithRename(id)
        guard let left = files[id]?.item else { return }
        leaveName(of: id)
        names[place.0, default: [:]][place.1] = id
        // X1: the default of the source directory determines the attributes that the item lists.
        let item = successor(next, left, in: old.directory)
        files[id]?.item = item
        files[id]?.place = place
        // If it continues another item, that item's identity is kept at the new name, and its own ends.
        let row = item.reference == left.reference ? left.row : nil
        if isRemembered, old.directory == place.0 { free(old.directory, old.name, left, movedTo: row, caller) }
    }

    /// Commits the staged value, but neither an abandoned one nor an O_TRUNC before its first byte, which may still be
    /// undone. A new name is always committed.
    private mutating func commitWithRename(_ id: FileID) {
        guard let file = files[id], let staged = file.staged, staged.isUncommitted else { return }
        if file.isPending || staged.isWritten { keepStaged(id) }
    }

    /// Over an existing item: the file is the source's, the item follows the name.
    private mutating func replace(_ target: FileID, with source: FileID, _ caller: Symbol) throws(Errno) {
        guard let file = files[source], let old = file.place, let replaced = files[target],
            let place = replaced.place
        else { return }
        if replaced.isPending {
            if replaced.contested != nil { throw .fileExists }
            let former = replaced.former.flatMap { $0.process == caller ? $0 : nil }
            dropPending(target)
            return move(source, to: place, former, caller)
        }
        let isRemembered = !file.isPending || file.former != nil
        // The replaced item, which it would continue, stays with the name.
        if file.former?.movedTo == replaced.item.row { files[source]?.former = nil }
        keepAdopted(source)
        commitWithRename(source)
        guard let left = files[source]?.item else { return }
        var item = replaced.item
        item.take(left, from: directoryFacts[old.directory]?.defaultClass)
        detach(target)
        leaveName(of: source)
        names[place.directory]?[place.name] = source
        files[source]?.item = item
        files[source]?.place = place
        if isRemembered, old.directory == place.directory {
            free(old.directory, old.name, left, movedTo: nil, caller)
        }
    }

    /// Swaps the names, nothing else.
    private mutating func exchange(_ a: FileID, _ b: FileID) throws(Errno) {
        for id in [a, b] where files[id]?.isPending == true { try commit(id) }
        try checkCommits()
        for id in [a, b] { keepAdopted(id) }
        guard let placeA = files[a]?.place, let placeB = files[b]?.place else { return }
        files[a]?.place = placeB
        files[b]?.place = placeA
        names[placeA.directory]?[placeA.name] = b
        names[placeB.directory]?[placeB.name] = a
    }

    /// A rename by attribute (X3), which neither frees a name nor continues the former item of a freed one.
    mutating func relocate(_ id: FileID, to place: (directory: DirectoryID, name: String)) throws(Errno) {
        if let taken = names[place.directory]?[place.name], let file = files[taken] {
            guard answersByName(file) else { throw .noKey }
            throw .fileExists
        }
        guard files[id]?.place != nil else { return }
        try checkCommits()
        keepAdopted(id)
        commitWithRename(id)
        leaveName(of: id)
        names[place.directory, default: [:]][place.name] = id
        files[id]?.place = place
        freed.removeAll { $0.directory == place.directory && $0.name == place.name }
    }

    // MARK: Freed names

    private mutating func free(
        _ directory: DirectoryID, _ name: String, _ item: Item, movedTo: Symbol?, _ caller: Symbol
    ) {
        returnFreedName(
            Freed(
                directory: directory, name: name, process: caller, time: now, item: item, movedTo: movedTo))
    }

    mutating func returnFreedName(_ entry: Freed?) {
        guard let entry else { return }
        freed.removeAll { $0.directory == entry.directory && $0.name == entry.name }
        freed.append(entry)
    }

    private mutating func takeFreed(_ name: String, _ directory: DirectoryID, _ caller: Symbol) -> Freed? {
        guard let index = freed.firstIndex(where: { $0.directory == directory && $0.name == name }) else { return nil }
        let entry = freed.remove(at: index)
        return entry.process == caller ? entry : nil
    }

    /// The item for a new file that continues a former item, as a file that is renamed over an item does. If the former
    /// item still exists under another name, it gets a new reference. If it already has another one or was deleted, the
    /// result is a new item: no two items have the same reference.
    mutating func successor(_ former: Freed?, _ item: Item, in directory: DirectoryID?) -> Item {
        guard let former, former.item.reference != item.reference else { return item }
        if let row = former.movedTo {
            let holder = files.first { entry in
                entry.value.place != nil && !entry.value.isPending && entry.value.item.row == row
                    && entry.value.item.reference == former.item.reference
            }
            guard let holder else { return item }
            let renewed = symbol()
            files[holder.key]?.item.reference = renewed
        }
        var successor = former.item
        successor.row = item.row
        successor.take(item, from: directory.flatMap { directoryFacts[$0]?.defaultClass })
        return successor
    }
}

extension Model.Item {
    /// Copies the attributes of `source`. If it lists none, the attributes stay; otherwise the listed ones replace
    /// them, the class only if it is listed.
    mutating func take(_ source: Model.Item, from defaultClass: ItemClass?) {
        let listsClass = source.itemClass != defaultClass ?? .whenUnlocked
        guard listsClass || !source.attributes.isEmpty else { return }
        attributes = source.attributes
        if listsClass { itemClass = source.itemClass }
    }
}
