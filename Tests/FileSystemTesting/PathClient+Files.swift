import FileSystemCore
import Synchronization
import SystemPackage

extension PathClient {
    public func open(_ path: String, _ flags: OpenFlags, mode: UInt32) throws(Errno) -> Int {
        try withParent(path) { parent, name throws(Errno) in
            guard let entry = flags.contains(.create) ? try find(parent, name) : try lookup(parent, name) else {
                guard flags.contains(.create) else { throw .noSuchFileOrDirectory }
                let (entry, file) = try run { request throws(Errno) in
                    try fileSystem.create(
                        &request, parent: parent, name: name, permissions: mode & ~umask, flags: flags)
                }
                return install(OpenFile(node: entry.node, file: file, flags: flags))
            }
            return try openExisting(entry, flags)
        }
    }

    /// The lookup of `entry` is kept as long as the file is open.
    private func openExisting(_ entry: Entry, _ flags: OpenFlags) throws(Errno) -> Int {
        do throws(Errno) {
            if flags.isSuperset(of: [.create, .exclusive]) { throw .fileExists }
            if entry.attributes.type == .directory { return install(try openDirectory(entry, flags)) }
            let file = try run { request throws(Errno) in
                try fileSystem.open(
                    &request, node: entry.node, flags: flags.subtracting([.create, .exclusive]))
            }
            return install(OpenFile(node: entry.node, file: file, flags: flags))
        } catch {
            fileSystem.forget(entry.node, count: 1)
            throw error
        }
    }

    /// Opens a directory for its attributes, not for reading: ``readDirectory(_:)`` opens its own.
    private func openDirectory(_ entry: Entry, _ flags: OpenFlags) throws(Errno) -> OpenFile {
        guard flags.isDisjoint(with: [.create, .truncate]), !flags.isWritable else { throw .isDirectory }
        let handle = try run { request throws(Errno) in
            try fileSystem.opendir(&request, node: entry.node)
        }
        var file = OpenFileInfo(handle: handle)
        file.noFlush = true
        return OpenFile(node: entry.node, file: file, flags: flags, isDirectory: true)
    }

    public func read(_ descriptor: Int, _ count: Int) throws(Errno) -> [UInt8] {
        let file = try file(descriptor)
        let bytes = try pread(descriptor, count, at: file.position.load(ordering: .relaxed))
        file.position.add(UInt64(bytes.count), ordering: .relaxed)
        return bytes
    }

    public func pread(_ descriptor: Int, _ count: Int, at offset: UInt64) throws(Errno) -> [UInt8] {
        let file = try file(descriptor)
        guard file.flags.isReadable else { throw .badFileDescriptor }
        guard !file.isDirectory else { throw .isDirectory }
        var all: [UInt8] = []
        // The kernel asks for at most max_read at a time.
        while all.count < count {
            let size = min(count - all.count, 131_072)
            let start = offset + UInt64(all.count)
            var chunk: [UInt8] = []
            try run { request throws(Errno) in
                try fileSystem.read(
                    &request, node: file.node, handle: file.file.handle, offset: start, size: size,
                    owner: owner
                ) { _, bytes in chunk = bytes.withUnsafeBytes { Array($0) } }
            }
            all += chunk
            if chunk.count < size { break }
        }
        return all
    }

    public func write(_ descriptor: Int, _ bytes: [UInt8]) throws(Errno) {
        let file = try file(descriptor)
        if file.flags.contains(.append) {
            file.position.store(try fstat(descriptor).size, ordering: .relaxed)
        }
        let start = file.position.load(ordering: .relaxed)
        try pwrite(descriptor, bytes, at: start)
        file.position.store(start + UInt64(bytes.count), ordering: .relaxed)
    }

    public func pwrite(_ descriptor: Int, _ bytes: [UInt8], at offset: UInt64) throws(Errno) {
        let file = try file(descriptor)
        guard file.flags.isWritable else { throw .badFileDescriptor }
        var done = 0
        repeat {
            let chunk = bytes[done..<min(bytes.count, done + maximumWrite)]
            let start = offset + UInt64(done)
            let count = try run { request throws(Errno) in
                try fileSystem.write(
                    &request, node: file.node, handle: file.file.handle, offset: start, data: chunk.span.bytes,
                    owner: owner, flags: file.flags)
            }
            guard count > 0 || chunk.isEmpty else { throw .ioError }
            done += count
        } while done < bytes.count
    }

    public func seek(_ descriptor: Int, to offset: UInt64) throws(Errno) {
        let file = try file(descriptor)
        guard !file.file.nonSeekable else { throw .illegalSeek }
        file.position.store(offset, ordering: .relaxed)
    }

    public func fsync(_ descriptor: Int, dataOnly: Bool) throws(Errno) {
        let file = try file(descriptor)
        try run { request throws(Errno) in
            guard !file.isDirectory else {
                return try fileSystem.fsyncdir(
                    &request, node: file.node, handle: file.file.handle, dataOnly: dataOnly)
            }
            try fileSystem.fsync(&request, node: file.node, handle: file.file.handle, dataOnly: dataOnly)
        }
    }

    public func copyRange(
        from: Int, at fromOffset: UInt64, to: Int, at toOffset: UInt64, count: Int
    ) throws(Errno) -> Int {
        let source = try file(from)
        let target = try file(to)
        return try run { request throws(Errno) in
            try fileSystem.copyFileRange(
                &request, from: source.node, fromHandle: source.file.handle, fromOffset: fromOffset,
                to: target.node, toHandle: target.file.handle, toOffset: toOffset, size: count,
                owner: LockOwner(rawValue: 0))
        }
    }
}
