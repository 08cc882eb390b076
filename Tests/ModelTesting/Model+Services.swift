import Foundation
import SystemPackage

/// F10: Keychain Services are one more process that uses the files.
extension Model {
    mutating func ask(_ call: ServiceCall) -> Expectation {
        do throws(ServiceStatus) {
            switch call {
            case .add(let place, let fill, let label): try add(place, fill.bytes, label)
            case .update(let place, let fill, let label, let target):
                try update(place, fill?.bytes, label, to: target ?? place)
            case .delete(let place): try delete(try committedFile(place))
            case .find(let place): return .exactly(.bytes(Data(files[try committedFile(place)]?.value ?? [])))
            }
            return .exactly(.done)
        } catch {
            return .exactly(.failed(error.code))
        }
    }

    /// The file of a committed item: Keychain Services do not find uncommitted ones.
    private func committedFile(_ place: Place) throws(ServiceStatus) -> FileID {
        guard let id = namedFile(place), let file = files[id], !file.isPending || file.contested != nil else {
            throw state == .beforeFirstUnlock ? .interactionNotAllowed : .itemNotFound
        }
        guard file.contested == nil, isAvailable(file.item.itemClass) else { throw .interactionNotAllowed }
        return id
    }

    private func namedFile(_ place: Place) -> FileID? {
        directories[place.directory].flatMap { names[$0]?[place.name] }
    }

    private func checkServable() throws(ServiceStatus) {
        if isFull { throw .diskFull }
        if state == .beforeFirstUnlock { throw .interactionNotAllowed }
    }

    /// Checks that a name is free; a pending name is.
    private func checkFree(_ place: Place) throws(ServiceStatus) {
        guard let id = namedFile(place), let file = files[id], !file.isPending || file.contested != nil else { return }
        throw file.contested == nil && isAvailable(file.item.itemClass) ? .duplicateItem : .interactionNotAllowed
    }

    private mutating func add(_ place: Place, _ value: [UInt8], _ label: String?) throws(ServiceStatus) {
        try checkServable()
        try checkFree(place)
        let itemClass = directories[place.directory].flatMap { directoryFacts[$0]?.defaultClass } ?? .whenUnlocked
        guard !isLocked || itemClass.canBeAddedWhileLocked else { throw .interactionNotAllowed }
        if isFailing { throw .diskFull }
        var item = Item(row: symbol(), reference: symbol(), created: symbol(), itemClass: itemClass)
        item.attributes[Self.label] = label
        let id = symbol()
        files[id] = File(
            inode: symbol(), place: nil, item: item, permissions: 0o600, modified: .recently, value: value,
            isPending: false)
        bring(id, to: place)
    }

    private mutating func delete(_ id: FileID) throws(ServiceStatus) {
        if state == .beforeFirstUnlock { throw .interactionNotAllowed }
        if isFailing { throw .diskFull }
        detach(id)
    }

    private static let label = "user.kSecAttrLabel"

    private mutating func update(
        _ place: Place, _ value: [UInt8]?, _ label: String?, to target: Place
    ) throws(ServiceStatus) {
        if isFull { throw .diskFull }
        let id = try committedFile(place)
        try checkServable()
        if target != place { try checkFree(target) }
        if isFailing { throw .diskFull }
        if let value {
            files[id]?.value = value
            change(id) { $0.modified = .recently }
        }
        if let label { files[id]?.item.attributes[Self.label] = label }
        if files[id]?.staged?.isUncommitted == false { files[id]?.staged = nil }
        if target != place { bring(id, to: target) }
    }

    /// Changes attributes of the item, not those of a pending file that will be committed over it.
    private mutating func change(_ id: FileID, _ body: (inout FileAttributes) -> Void) {
        if var adopted = files[id]?.adopted {
            body(&adopted.facts)
            files[id]?.adopted = adopted
        } else if var facts = files[id]?.facts {
            body(&facts)
            files[id]?.facts = facts
        }
    }

    /// Gives a name to an item; a pending file with this name becomes the item's file.
    private mutating func bring(_ id: FileID, to place: Place) {
        let directory = directories[place.directory] ?? symbol()
        if directories[place.directory] == nil { addDirectory(place.directory, directory) }
        freed.removeAll { $0.directory == directory && $0.name == place.name }
        let pending = namedFile(place)
        if let old = files[id]?.place { names[old.directory]?[old.name] = nil }
        guard let pending else {
            names[directory, default: [:]][place.name] = id
            files[id]?.place = (directory, place.name)
            return
        }
        files[id]?.place = nil
        if let item = files[id]?.item, isAvailable(item.itemClass) {
            adopt(id, by: pending)
        } else {
            files[pending]?.contested = id
        }
    }

    /// After an unlock.
    mutating func adoptContested() {
        for (pending, file) in files {
            guard let id = file.contested else { continue }
            files[pending]?.contested = nil
            adopt(id, by: pending)
        }
    }

    /// The item follows the name, the contents are the file's from their commit on (F5).
    private mutating func adopt(_ id: FileID, by pending: FileID) {
        guard let other = files[id], let file = files[pending] else { return }
        files[pending]?.adopted = AdoptedFile(
            draft: file.item, directory: file.place?.directory ?? 0, facts: other.adopted?.facts ?? other.facts)
        files[pending]?.item = other.item
        files[pending]?.value = other.value
        files[pending]?.isPending = false
        files[pending]?.former = nil
    }

    // MARK: Files that an item has adopted

    /// The item as its file shows it.
    func shownItem(_ file: File) -> Item {
        guard let adopted = file.adopted else { return file.item }
        var item = file.item
        item.take(adopted.draft, from: directoryFacts[adopted.directory]?.defaultClass)
        return item
    }

    /// Commits the shown item.
    mutating func keepAdopted(_ id: FileID) {
        guard var file = files[id] else { return }
        file.item = shownItem(file)
        file.adopted = nil
        files[id] = file
    }

    /// Discards the pending file.
    mutating func dropAdopted(_ id: FileID) {
        guard let adopted = files[id]?.adopted else { return }
        if files[id]?.place != nil { files[id]?.facts = adopted.facts }
        files[id]?.adopted = nil
    }
}
