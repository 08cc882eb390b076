import FileSystemCore
import FileSystemTesting
import Foundation
import SystemPackage

/// A process of a program, which performs its steps by system calls.
public struct StepRunner: Sendable {
    public let client: any FileClient
    /// The descriptors of the slots.
    public var slots: [Int: Int] = [:]

    public init(_ client: any FileClient) { self.client = client }

    public mutating func perform(_ action: Action) -> Outcome {
        do throws(Errno) {
            return try attempt(action) ?? .failed(Errno.notSupported.rawValue)
        } catch {
            return .failed(error.rawValue)
        }
    }

    public func descriptor(_ slot: Int) throws(Errno) -> Int {
        guard let descriptor = slots[slot] else { throw .badFileDescriptor }
        return descriptor
    }

    /// Performs the action; nil if a process alone cannot.
    private mutating func attempt(_ action: Action) throws(Errno) -> Outcome? {
        switch action {
        case .open, .close, .duplicate, .read, .write, .resize, .sync, .status: return try onSlot(action)
        case .contents(let place): return .bytes(Data(try client.contents(place.path)))
        case .truncate(let place, let size): try client.truncate(place.path, UInt64(size))
        case .stat(let place): return .status(Status(try client.stat(place.path)))
        case .chmod(let place, let permissions): try client.chmod(place.path, permissions)
        case .setTime(let place, let seconds):
            let time = Timestamp(seconds: seconds, nanoseconds: 0)
            try client.setTimes(place.path, access: nil, modification: .at(time))
        case .make(let place): try client.mknod(place.path, .regular, mode: 0o600)
        case .unlink(let place): try client.unlink(place.path)
        case .rename(let from, let to, let flags):
            try client.rename(from.path, to.path, RenameFlags(rawValue: flags))
        case .attributes(let place): return .attributes(try attributes(place.path))
        case .setAttribute(let place, let name, let value, let flags):
            try client.setxattr(place.path, name, Array(value.utf8), XattrFlags(rawValue: flags))
        case .removeAttribute(let place, let name): try client.removexattr(place.path, name)
        case .makeDirectory(let path): try client.mkdir("/" + path)
        case .makeGroup(let name): try client.mkdir("/access-groups/" + name)
        case .removeDirectory(let path): try client.rmdir("/" + path)
        case .renameDirectory(let from, let to, let flags):
            try client.rename("/" + from, "/" + to, RenameFlags(rawValue: flags))
        case .list(let path): return try list("/" + path)
        case .statDirectory(let path): return .status(Status(try client.stat("/" + path)))
        case .setDefault(let path, let value): try client.setxattr("/" + path, Model.accessible, value)
        case .ask(let call): return try ServiceClient(client: client).call(call)
        case .spawn, .exit, .die, .lock, .unlock, .remount, .remountLocked, .fillDisk, .failDisk, .kill, .wait:
            return nil
        }
        return .done
    }

    private mutating func onSlot(_ action: Action) throws(Errno) -> Outcome {
        switch action {
        case .open(let place, let flags, let slot):
            guard slots[slot] == nil else { throw .resourceBusy }
            slots[slot] = try client.open(place.path, OpenFlags(rawValue: flags))
        case .close(let slot):
            let descriptor = try descriptor(slot)
            slots[slot] = nil
            try client.close(descriptor)
        case .duplicate(let slot, let target):
            let descriptor = try descriptor(slot)
            guard slots[target] == nil else { throw .resourceBusy }
            slots[target] = try client.duplicate(descriptor)
        case .read(let slot, let offset, let count):
            return .bytes(Data(try client.pread(try descriptor(slot), count, at: UInt64(offset))))
        case .write(let slot, let offset, let fill):
            try client.pwrite(try descriptor(slot), fill.bytes, at: UInt64(offset))
        case .resize(let slot, let size): try client.ftruncate(try descriptor(slot), UInt64(size))
        case .sync(let slot): try client.fsync(try descriptor(slot))
        case .status(let slot): return .status(Status(try client.fstat(try descriptor(slot))))
        default: break
        }
        return .done
    }

    /// Sorted, a name that came twice twice.
    private func list(_ path: String) throws(Errno) -> Outcome {
        do throws(Errno) {
            let read = try client.readDirectory(path)
            return .names(read.names.sorted(), error: read.error?.rawValue)
        } catch .noKey {
            // L1: with nothing available opendir fails.
            return .names([], error: Errno.noKey.rawValue)
        }
    }

    private func attributes(_ path: String) throws(Errno) -> ItemAttributes {
        var listed: [String: Data] = [:]
        for name in try client.listxattr(path) { listed[name] = Data(try client.getxattr(path, name)) }
        return ItemAttributes(
            listed: listed, reference: Data(try client.getxattr(path, "user.kSecAttrPersistentReference")),
            created: Data(try client.getxattr(path, "user.kSecAttrCreationDate")))
    }
}

extension Status {
    init(_ attributes: Attributes) {
        size = Int(attributes.size)
        permissions = attributes.permissions
        links = Int(attributes.linkCount)
        inode = attributes.inode.rawValue
        modified = attributes.modificationTime.seconds
        changed = attributes.changeTime.seconds * 1_000_000_000 + Int64(attributes.changeTime.nanoseconds)
    }
}
