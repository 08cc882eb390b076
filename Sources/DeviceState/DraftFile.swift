import Foundation
package import SystemPackage
import SystemServices

/// A file that is being written beside the place where it will be: it gets its name when it is whole and durable.
///
/// Mode 0600 from the first moment. What has not got its name is removed at the end.
package struct DraftFile: ~Copyable {
    package let file: FileDescriptor
    package let path: String
    private let target: FilePath

    private static let prefix = ".keychainfs-new-"
    /// Nobody writes to one for so long, in seconds: it is of a process that was killed.
    private static let patience: TimeInterval = 3600

    package init(for target: String) throws(Errno) {
        self.target = FilePath(target)
        let directory = self.target.removingLastComponent()
        Self.removeLeftovers(in: directory.string)
        path = directory.appending(Self.prefix + String(UInt64.random(in: 0 ... .max), radix: 16)).string
        do {
            file = try FileDescriptor.open(
                FilePath(path), .readWrite, options: [.create, .exclusiveCreate, .closeOnExec, .noFollow],
                permissions: .ownerReadWrite)
        } catch {
            throw error as? Errno ?? .ioError
        }
    }

    deinit {
        try? file.close()
        try? FileManager.default.removeItem(atPath: path)
    }

    private static func removeLeftovers(in directory: String) {
        let manager = FileManager.default
        for name in (try? manager.contentsOfDirectory(atPath: directory)) ?? [] where name.hasPrefix(prefix) {
            let path = directory + "/" + name
            guard let date = (try? manager.attributesOfItem(atPath: path))?[.modificationDate] as? Date,
                -date.timeIntervalSinceNow > patience
            else { continue }
            try? manager.removeItem(atPath: path)
        }
    }

    /// In bytes, as it is now.
    package var byteCount: Int64 { (try? file.seek(offset: 0, from: .end)) ?? 0 }

    /// All of another file.
    package func copy(fileAt path: String) throws(Errno) {
        let source: FileDescriptor
        do {
            source = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
        } catch {
            throw Errno(within: error)
        }
        defer { try? source.close() }
        try copy(from: source)
    }

    /// All of another file, from where its descriptor stands.
    package func copy(from source: FileDescriptor) throws(Errno) {
        let handle = FileHandle(fileDescriptor: source.rawValue, closeOnDealloc: false)
        do {
            while let piece = try handle.read(upToCount: 1 << 20), !piece.isEmpty {
                try file.writeAll(piece)
            }
        } catch {
            throw Errno(within: error)
        }
    }

    package func write(_ bytes: [UInt8]) throws(Errno) {
        do { try file.writeAll(bytes) } catch { throw Errno(within: error) }
    }

    /// Makes the contents durable (fsync(2)).
    package func synchronize() throws(Errno) {
        do {
            try FileHandle(fileDescriptor: file.rawValue, closeOnDealloc: false).synchronize()
        } catch {
            throw Errno(within: error)
        }
    }

    /// Gives it its name, which nothing may have: EEXIST. Durable when it returns.
    package consuming func publish() throws(Errno) {
        try synchronize()
        try FileNames.moveToFree(path, target.string)
        try FileNames.synchronize(directory: target.removingLastComponent().string)
    }

    /// Gives it its name; what had it is gone. Durable when it returns.
    package consuming func replace() throws(Errno) {
        try synchronize()
        try FileNames.replace(path, target.string)
        try FileNames.synchronize(directory: target.removingLastComponent().string)
    }
}

extension Errno {
    /// What Foundation wraps, or a system call threw.
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
