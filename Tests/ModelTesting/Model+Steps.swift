import FileSystemCore
import Foundation
import SystemPackage

extension Model {
    /// Takes a step.
    public mutating func take(_ operation: Step) -> Expectation {
        do throws(Errno) {
            return try attempt(operation.action, by: operation.process)
        } catch {
            return .exactly(.failed(error.rawValue))
        }
    }

    mutating func process(_ number: Int) -> Process {
        if let process = processes[number] { return process }
        let process = Process(identity: symbol())
        processes[number] = process
        return process
    }

    private mutating func attempt(_ action: Action, by number: Int) throws(Errno) -> Expectation {
        let caller = process(number).identity
        switch action {
        case .open, .close, .duplicate, .read, .write, .resize, .sync, .status, .spawn, .exit, .die:
            return try descriptorStep(action, number)
        case .contents(let place): return .exactly(.bytes(Data(openedValue(try file(place)))))
        case .truncate(let place, let size): try truncate(try file(place), size)
        case .stat(let place): return status(try file(place))
        case .chmod(let place, let permissions): try chmod(try file(place), permissions)
        case .setTime(let place, let seconds): try setTime(try file(place), .at(seconds))
        case .make(let place): try make(place, caller)
        case .unlink(let place): try unlink(place, caller)
        case .rename(let from, let to, let flags): try rename(from, to, RenameFlags(rawValue: flags), caller)
        case .attributes(let place): return try attributes(place)
        case .setAttribute(let place, let name, let value, let flags):
            try set(name, to: value, of: place, XattrFlags(rawValue: flags))
        case .removeAttribute(let place, let name): try remove(name, of: place)
        case .makeDirectory, .makeGroup, .removeDirectory, .renameDirectory, .list, .statDirectory, .setDefault:
            return try directoryStep(action)
        case .ask(let call): return ask(call)
        case .lock: lock()
        case .unlock:
            state = .unlocked
            adoptContested()
        case .remount: remount()
        case .remountLocked:
            remount()
            state = .beforeFirstUnlock
        case .fillDisk(let isFull): self.isFull = isFull
        case .failDisk(let isFailing): self.isFailing = isFailing
        case .kill: kill()
        case .wait: break
        }
        return .exactly(.done)
    }

    // MARK: Names

    func directory(_ path: String) throws(Errno) -> DirectoryID {
        guard let id = try existingDirectory(path) else { throw .noSuchFileOrDirectory }
        return id
    }

    /// The directory, or nil if it does not exist.
    func existingDirectory(_ path: String) throws(Errno) -> DirectoryID? {
        guard isVisible(path) else { throw .noKey }
        if let group = ServicePath(path).groupFolder, !containers.contains(group) { throw .noSuchFileOrDirectory }
        return directories[path]
    }

    /// L1: the file with this name, or nil if not found. Fails with ENOKEY if its item is not available, for every
    /// caller and operation.
    func existing(_ place: Place) throws(Errno) -> FileID? {
        guard let id = names[try directory(place.directory)]?[place.name], let file = files[id] else {
            if state == .beforeFirstUnlock { throw .noKey }
            return nil
        }
        guard answersByName(file) else { throw .noKey }
        return id
    }

    func file(_ place: Place) throws(Errno) -> FileID {
        guard let id = try existing(place) else { throw .noSuchFileOrDirectory }
        return id
    }

    // MARK: States

    private mutating func remount() {
        for number in processes.keys.sorted() { leave(number, dying: false) }
        startAgain()
    }

    /// Discards all staged values.
    private mutating func kill() {
        for (id, file) in files {
            if file.isPending { dropPending(id) }
            if file.staged != nil { files[id]?.epoch += 1 }
            files[id]?.staged = nil
            dropAdopted(id)
            files[id]?.readers = 0
            files[id]?.writers = 0
            if file.isPending { files[id] = nil }
        }
        startAgain()
    }

    private mutating func startAgain() {
        (processes, opens, freed, state, isFailing) = ([:], [:], [], .unlocked, false)
        files = files.filter { $0.value.place != nil }
    }
}
