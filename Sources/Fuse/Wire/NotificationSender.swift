import CFuse3
import FileSystemCore
import Glibc
import SystemPackage

/// Writes notifications in the format of linux/fuse.h: a reply without a request (`unique` 0), whose error is the code.
///
/// Does not use `fuse_lowlevel_notify_*`, because libfuse 3.14 has no FUSE_NOTIFY_INC_EPOCH and prints errors itself.
struct NotificationSender {
    /// `FUSE_NOTIFY_INC_EPOCH`, since protocol 7.44 (Linux 6.16), which invalidates all names.
    static let incrementEpoch: Int32 = 8
    static let epochMinor: UInt32 = 44

    let channel: Channel

    /// Whether the kernel waits for operations in progress: for a directory's lock, or for pages that are being read.
    static func mayWait(_ notification: FileSystemCore.Notification, kernelMinor: UInt32) -> Bool {
        switch notification {
        case .inode(_, let pages), .inodes(_, let pages): pages
        case .entry: true
        case .allEntries: kernelMinor < epochMinor
        case .wipeStacks, .later: false
        }
    }

    func send(_ notifications: [FileSystemCore.Notification], kernelMinor: UInt32) {
        for notification in notifications {
            switch notification {
            case .inode(let node, let pages): invalidate(node, pages: pages)
            case .inodes(let nodes, let pages): nodes.forEach { invalidate($0, pages: pages) }
            case .entry(let entry): invalidate(entry)
            case .allEntries(let fallback):
                if kernelMinor >= Self.epochMinor, incrementEpoch() { continue }
                for entry in fallback() { invalidate(entry) }
            // Handled by the notifier.
            case .wipeStacks, .later: continue
            }
        }
    }

    /// A negative offset invalidates the attributes only; offset 0 and length 0 all pages, too. Allocates no memory,
    /// because there may be a million notifications.
    private func invalidate(_ node: NodeID, pages: Bool) {
        typealias InodeNotification = (head: fuse_out_header, body: fuse_notify_inval_inode_out)
        let head = fuse_out_header(
            len: UInt32(MemoryLayout<InodeNotification>.size), error: Int32(FUSE_NOTIFY_INVAL_INODE.rawValue), unique: 0
        )
        var message: InodeNotification = (
            head, fuse_notify_inval_inode_out(ino: node.rawValue, off: pages ? 0 : -1, len: 0)
        )
        let error = unsafe withUnsafeMutableBytes(of: &message) { message in
            var vector = unsafe iovec(iov_base: message.baseAddress, iov_len: message.count)
            return unsafe withUnsafeMutablePointer(to: &vector) { vector in
                unsafe channel.send(UnsafeMutableBufferPointer(start: vector, count: 1))
            }
        }
        report(error)
    }

    private func invalidate(_ entry: EntryReference) {
        var body = fuse_notify_inval_entry_out(
            parent: entry.parent.rawValue, namelen: UInt32(entry.name.bytes.count), flags: 0)
        var name = entry.name.bytes + [0]
        unsafe withUnsafeMutableBytes(of: &body) { body in
            unsafe name.withUnsafeMutableBytes { name in
                report(unsafe send(Int32(FUSE_NOTIFY_INVAL_ENTRY.rawValue), [body, name]))
            }
        }
    }

    /// Returns false if the kernel does not support it.
    private func incrementEpoch() -> Bool {
        let error = unsafe send(Self.incrementEpoch, [])
        if error?.rawValue == EINVAL { return false }
        report(error)
        return true
    }

    private func send(_ code: Int32, _ parts: [UnsafeMutableRawBufferPointer]) -> Errno? {
        let header = MemoryLayout<fuse_out_header>.size
        let length = unsafe parts.reduce(header) { $0 + $1.count }
        var head = fuse_out_header(len: UInt32(length), error: code, unique: 0)
        return unsafe withUnsafeMutableBytes(of: &head) { head in
            var vectors = unsafe ([head] + parts).map { unsafe iovec(iov_base: $0.baseAddress, iov_len: $0.count) }
            return unsafe vectors.withUnsafeMutableBufferPointer { unsafe channel.send($0) }
        }
    }

    /// ENOENT: the kernel does not know the node or name, or no longer. ENODEV: the mount has ended.
    private func report(_ error: Errno?) {
        guard let error, ![ENOENT, ENODEV, ENOTCONN, EPIPE, ECONNRESET].contains(error.rawValue) else { return }
        FuseLog.write(.warning, "a notification was refused: \(error)")
    }
}
