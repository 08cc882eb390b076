import FileSystemCore
import Foundation
import SystemPackage

/// F1 to F3, F6.
extension Model {
    mutating func descriptorStep(_ action: Action, _ number: Int) throws(Errno) -> Expectation {
        switch action {
        case .open(let place, let flags, let slot): try open(place, OpenFlags(rawValue: flags), number, slot)
        case .close(let slot): try close(number, slot)
        case .duplicate(let slot, let target): try duplicate(number, slot, target)
        case .read(let slot, let offset, let count): return try read(number, slot, offset, count)
        case .write(let slot, let offset, let fill):
            try write(try opened(number, slot), offset, fill.bytes, process(number).identity)
        case .resize(let slot, let size): try resize(try opened(number, slot), size, process(number).identity)
        case .sync(let slot): try sync(try opened(number, slot))
        case .status(let slot): return try status(number, slot)
        case .spawn(let slot, let fill): try spawn(number, slot, fill)
        case .exit: leave(number, dying: false)
        case .die: leave(number, dying: true)
        default: break
        }
        return .exactly(.done)
    }

    func opened(_ number: Int, _ slot: Int) throws(Errno) -> Open {
        guard let id = processes[number]?.slots[slot], let open = opens[id] else { throw .badFileDescriptor }
        return open
    }

    // MARK: Opening and closing

    private mutating func open(_ place: Place, _ flags: OpenFlags, _ number: Int, _ slot: Int) throws(Errno) {
        guard process(number).slots[slot] == nil else { throw .resourceBusy }
        guard let id = try existing(place) else {
            guard flags.contains(.create) else { throw .noSuchFileOrDirectory }
            let id = try create(place, process(number).identity)
            return install(id, flags, isWriter: true, number, slot)
        }
        if flags.isSuperset(of: [.create, .exclusive]) { throw .fileExists }
        let isWriter = flags.isWritable || flags.contains(.truncate)
        if isWriter { try checkWritable() }
        if flags.contains(.truncate) {
            try checkSpace()
            edit(id) { staged in
                staged.bytes = []
                staged.modified = .recently
                staged.isUncommitted = true
            }
        }
        install(id, flags, isWriter: isWriter, number, slot)
    }

    private mutating func install(
        _ id: FileID, _ flags: OpenFlags, isWriter: Bool, _ number: Int, _ slot: Int
    ) {
        guard let file = files[id] else { return }
        let snapshot = isWriter ? nil : Snapshot(bytes: openedValue(id), classes: classes(file))
        let open = symbol()
        opens[open] = Open(file: id, flags: flags, snapshot: snapshot, discards: file.discards)
        processes[number]?.slots[slot] = open
        if isWriter { files[id]?.writers += 1 } else { files[id]?.readers += 1 }
    }

    /// The value for an open for reading: the committed one, or the staged one if nothing is committed (F2).
    func openedValue(_ id: FileID) -> [UInt8] {
        guard let file = files[id] else { return [] }
        return file.isPending ? file.staged?.bytes ?? [] : file.value
    }

    private mutating func duplicate(_ number: Int, _ slot: Int, _ target: Int) throws(Errno) {
        _ = try opened(number, slot)
        guard processes[number]?.slots[target] == nil, let open = processes[number]?.slots[slot] else {
            throw .resourceBusy
        }
        processes[number]?.slots[target] = open
        opens[open]?.references += 1
    }

    private mutating func close(_ number: Int, _ slot: Int, dying: Bool = false) throws(Errno) {
        let open = try opened(number, slot)
        guard let id = processes[number]?.slots.removeValue(forKey: slot) else { return }
        let flushed = Result { () throws(Errno) in try flush(open, process(number).identity, dying: dying) }
        opens[id]?.references -= 1
        if opens[id]?.references == 0 {
            opens[id] = nil
            release(open)
        }
        try flushed.get()
    }

    /// The process ends.
    mutating func leave(_ number: Int, dying: Bool) {
        for slot in process(number).slots.keys.sorted() { try? close(number, slot, dying: dying) }
        processes[number] = nil
    }

    private mutating func spawn(_ number: Int, _ slot: Int?, _ fill: BytePattern) throws(Errno) {
        let child = symbol()
        let written = Result { () throws(Errno) in
            if let slot { try write(try opened(number, slot), 0, fill.bytes, child) }
        }
        let inherited = process(number).slots.sorted { $0.key < $1.key }
        for (_, id) in inherited { if let open = opens[id] { try? flush(open, child, dying: false) } }
        try written.get()
    }

    private mutating func flush(_ open: Open, _ caller: Symbol, dying: Bool) throws(Errno) {
        guard open.isWriter, let file = files[open.file] else { return }
        guard open.discards == file.discards else { throw .noKey }
        guard var staged = file.staged, staged.isUncommitted || staged.refusal != nil else { return }
        if dying {
            staged.writers.remove(caller)
            staged.isAbandoned = true
            files[open.file]?.staged = staged
            return
        }
        if let refusal = staged.refusal { throw refusal }
        if staged.writers.contains(caller) || staged.hasUnknownWriter || staged.hasFailed { try commit(open.file) }
    }

    private mutating func release(_ open: Open) {
        let id = open.file
        guard open.isWriter else {
            files[id]?.readers -= 1
            return
        }
        files[id]?.writers -= 1
        guard let file = files[id], file.writers == 0 else { return }
        if let staged = file.staged, staged.isUncommitted {
            if staged.isAbandoned || (try? commit(id)) == nil { files[id]?.epoch += 1 }
        }
        files[id]?.staged = nil
        dropAdopted(id)
        if files[id]?.isPending == true {
            returnFreedName(file.former)
            dropPending(id)
        }
    }

    // MARK: Contents

    private func read(_ number: Int, _ slot: Int, _ offset: Int, _ count: Int) throws(Errno) -> Expectation {
        let open = try opened(number, slot)
        guard open.flags.isReadable, let file = files[open.file] else { throw .badFileDescriptor }
        let value: [UInt8]
        if let snapshot = open.snapshot {
            guard !snapshot.isClosed else { throw .noKey }
            value = snapshot.bytes
        } else {
            guard open.discards == file.discards, answersByDescriptor(file) else { throw .noKey }
            value = file.staged?.bytes ?? file.value
        }
        return .exactly(.bytes(Data(value.dropFirst(offset).prefix(count))))
    }

    private mutating func write(
        _ open: Open, _ offset: Int, _ bytes: [UInt8], _ caller: Symbol
    ) throws(Errno) {
        guard open.flags.isWritable else { throw .badFileDescriptor }
        try checkUsable(open)
        let limit = valueLimit
        let isFull = isFull
        try change(open.file, caller) { (value) throws(Errno) in
            let start = open.flags.contains(.append) ? value.count : offset
            guard start + bytes.count <= limit else { throw .fileTooLarge }
            if isFull { throw .noSpace }
            if value.count < start + bytes.count {
                value += [UInt8](repeating: 0, count: start + bytes.count - value.count)
            }
            value.replaceSubrange(start..<(start + bytes.count), with: bytes)
        }
        if open.flags.isSynchronous { try commit(open.file) }
    }

    private mutating func resize(_ open: Open, _ size: Int, _ caller: Symbol) throws(Errno) {
        guard open.flags.isWritable else { throw .invalidArgument }
        try checkUsable(open)
        let (limit, isFull) = (valueLimit, isFull)
        try change(open.file, caller) { (value) throws(Errno) in
            guard size <= limit else { throw .fileTooLarge }
            if isFull { throw .noSpace }
            Self.cut(&value, size)
        }
    }

    private static func cut(_ value: inout [UInt8], _ size: Int) {
        if value.count > size { value.removeLast(value.count - size) }
        value += [UInt8](repeating: 0, count: size - value.count)
    }

    private func checkUsable(_ open: Open) throws(Errno) {
        guard let file = files[open.file], open.discards == file.discards, answersByDescriptor(file) else {
            throw .noKey
        }
    }

    /// Edits the value that writers share. A refused write abandons it, and close repeats its error (F1).
    private mutating func change(
        _ id: FileID, _ caller: Symbol, _ body: (inout [UInt8]) throws(Errno) -> Void
    ) throws(Errno) {
        guard var staged = files[id]?.staged ?? files[id].map({ Staged(bytes: $0.value) }) else { return }
        let result = Result { () throws(Errno) in try body(&staged.bytes) }
        switch result {
        case .success:
            (staged.isUncommitted, staged.isAbandoned, staged.refusal) = (true, false, nil)
            staged.modified = .recently
            staged.writers.insert(caller)
        case .failure(let error): (staged.isAbandoned, staged.refusal) = (true, error)
        }
        files[id]?.staged = staged
        try result.get()
    }

    private mutating func edit(_ id: FileID, _ body: (inout Staged) -> Void) {
        guard var staged = files[id]?.staged ?? files[id].map({ Staged(bytes: $0.value) }) else { return }
        body(&staged)
        files[id]?.staged = staged
    }

    /// fsync by any process: commits, including an abandoned value.
    private mutating func sync(_ open: Open) throws(Errno) {
        guard let file = files[open.file] else { return }
        if open.isWriter, open.discards != file.discards { throw .noKey }
        guard file.staged != nil else { return }
        files[open.file]?.staged?.isAbandoned = false
        files[open.file]?.staged?.refusal = nil
        try commit(open.file)
    }

    /// truncate(2): the caller has no descriptor that could report an error later, so it commits immediately.
    mutating func truncate(_ id: FileID, _ size: Int) throws(Errno) {
        try checkWritable()
        guard size <= valueLimit else { throw .fileTooLarge }
        try checkSpace()
        let isNew = files[id]?.staged == nil
        edit(id) { staged in
            Self.cut(&staged.bytes, size)
            staged.modified = .recently
            (staged.isUncommitted, staged.isAbandoned, staged.refusal) = (true, false, nil)
            staged.hasUnknownWriter = true
        }
        do throws(Errno) {
            try commit(id)
        } catch {
            if isNew {
                files[id]?.staged = nil
                files[id]?.epoch += 1
            }
            throw error
        }
    }

    /// Commits the file; a file without a name is not committed.
    mutating func commit(_ id: FileID) throws(Errno) {
        if isFailing, files[id]?.place != nil, files[id]?.staged?.isUncommitted == true {
            files[id]?.staged?.hasFailed = true
            throw .noSpace
        }
        if files[id]?.contested != nil {
            files[id]?.staged?.hasFailed = true
            throw .fileExists
        }
        keepStaged(id)
    }

    /// Makes the staged value the committed one, and creates the item of a new name.
    mutating func keepStaged(_ id: FileID) {
        guard var file = files[id], let staged = file.staged else { return }
        file.staged = nil
        if staged.isUncommitted {
            file.value = staged.bytes
            file.modified = staged.modified
        }
        if file.isPending { file.item = successor(file.former, file.item, in: file.place?.directory) }
        (file.isPending, file.former) = (false, nil)
        files[id] = file
        keepAdopted(id)
    }

    // MARK: Status

    private func status(_ number: Int, _ slot: Int) throws(Errno) -> Expectation {
        let open = try opened(number, slot)
        guard let file = files[open.file], answersByDescriptor(file) else { throw .noKey }
        return status(open.file)
    }

    /// F2: the attributes of the staged value, which all processes see.
    func status(_ id: FileID) -> Expectation {
        guard let file = files[id] else { return .exactly(.failed(Errno.noSuchFileOrDirectory.rawValue)) }
        let staged = file.staged.flatMap { $0.isUncommitted ? $0 : nil }
        return .status(
            ExpectedStatus(
                size: staged?.bytes.count ?? file.value.count, permissions: file.permissions,
                links: file.place == nil ? 0 : 1, inode: file.inode, modified: staged?.modified ?? file.modified,
                history: [id, file.epoch]))
    }

    mutating func chmod(_ id: FileID, _ permissions: UInt32) throws(Errno) {
        try checkWritable()
        try checkCommits(id)
        keepAdopted(id)
        files[id]?.permissions = permissions
    }

    mutating func setTime(_ id: FileID, _ time: Time) throws(Errno) {
        try checkWritable()
        try checkCommits(id)
        keepAdopted(id)
        files[id]?.modified = time
        files[id]?.staged?.modified = time
    }
}
