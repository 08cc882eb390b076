import Foundation
package import LinuxSupport
import SecretCrypto
package import SystemPackage

/// A file under a temporary name, which gets its final name when it is complete and durable.
///
/// Has mode 0600 from the start. A file without its final name is removed at the end of the value's lifetime, with the
/// files of SQLite next to it.
package struct TemporaryFile: ~Copyable {
    package let file: FileDescriptor
    package let path: String
    private let target: FilePath

    package init(for target: String) throws(Errno) {
        self.target = FilePath(target)
        let temporaryFiles = TemporaryFiles(in: self.target.removingLastComponent())
        temporaryFiles.removeLeftovers()
        let temporaryFile = try temporaryFiles.create()
        (file, path) = (temporaryFile.file, temporaryFile.path.string)
    }

    deinit {
        SQLiteFileNames.removeAll(of: path)
        try? FileManager.default.removeItem(atPath: path)
        try? file.close()
    }

    /// The present size in bytes.
    package var byteCount: Int64 { (try? file.seek(offset: 0, from: .end)) ?? 0 }

    /// Appends the contents of a regular file.
    ///
    /// - Throws: EINVAL for a FIFO or a device, which may have no end.
    package func copy(fileAt path: String) throws(CopyError<Errno>) {
        let source: FileDescriptor
        do throws(Errno) { source = try Self.openRegular(path, [.closeOnExec, .nonBlocking]) } catch {
            throw .source(error)
        }
        defer { try? source.close() }
        try copy(from: source)
    }

    /// Copies a log to the name of this file's log (mode 0600), which is removed with it.
    ///
    /// - Throws: EINVAL unless it is a regular file, ELOOP for a symbolic link.
    package func copyLog(at path: String) throws(Errno) {
        let source = try Self.openRegular(path, [.closeOnExec, .nonBlocking, .noFollow])
        defer { try? source.close() }
        let log: FileDescriptor
        do {
            log = try FileDescriptor.open(
                FilePath(SQLiteFileNames.log(of: self.path)), .writeOnly,
                options: [.create, .exclusiveCreate, .closeOnExec, .noFollow], permissions: .ownerReadWrite)
        } catch {
            throw Errno(within: error)
        }
        defer { try? log.close() }
        do throws(CopyError<Errno>) { try Self.copy(from: source, to: log) } catch { throw error.cause }
    }

    private static func openRegular(
        _ path: String, _ options: FileDescriptor.OpenOptions
    ) throws(Errno) -> FileDescriptor {
        let file: FileDescriptor
        do { file = try FileDescriptor.open(FilePath(path), .readOnly, options: options) } catch {
            throw Errno(within: error)
        }
        guard (try? Stat(file).type) == .regular else {
            try? file.close()
            throw .invalidArgument
        }
        return file
    }

    /// Appends another file, from the position of its descriptor.
    package func copy(from source: FileDescriptor) throws(CopyError<Errno>) { try Self.copy(from: source, to: file) }

    private static func copy(from source: FileDescriptor, to file: FileDescriptor) throws(CopyError<Errno>) {
        let handle = FileHandle(fileDescriptor: source.rawValue, closeOnDealloc: false)
        while true {
            let piece: Data
            do { piece = try handle.read(upToCount: 1 << 20) ?? Data() } catch { throw .source(Errno(within: error)) }
            guard !piece.isEmpty else { return }
            do { try file.writeAll(piece) } catch { throw .copy(Errno(within: error)) }
        }
    }

    package func write(_ bytes: [UInt8]) throws(Errno) {
        do { try file.writeAll(bytes) } catch { throw Errno(within: error) }
    }

    /// Appends random bytes for a new key.
    package func writeRandom(count: Int) throws(Errno) {
        do throws(CryptoError) {
            try SecretBytes(randomCount: count).write(to: file.rawValue)
        } catch {
            if case .io(let number) = error { throw Errno(rawValue: number) }
            throw .noMemory
        }
    }

    /// Makes the contents durable (fsync(2)).
    package func synchronize() throws(Errno) {
        do {
            try FileHandle(fileDescriptor: file.rawValue, closeOnDealloc: false).synchronize()
        } catch {
            throw Errno(within: error)
        }
    }

    /// Renames the file to its final name, durably on return.
    ///
    /// - Throws: EEXIST if the name exists.
    package consuming func install() throws(Errno) {
        try synchronize()
        try FileRenaming.renameNoReplace(path, target.string)
        try FileRenaming.synchronize(directory: target.removingLastComponent().string)
    }

    /// Renames the file to its final name and replaces an existing file, durably on return.
    package consuming func replace() throws(Errno) {
        try synchronize()
        try FileRenaming.replace(path, target.string)
        try FileRenaming.synchronize(directory: target.removingLastComponent().string)
    }
}

extension Errno {
    /// Returns the errno that a system call threw or Foundation wraps.
    package init(within error: any Error) {
        if let errno = error as? Errno {
            self = errno
        } else if let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError {
            self = Errno(rawValue: CInt(truncatingIfNeeded: cause.code))
        } else {
            self = .ioError
        }
    }
}
