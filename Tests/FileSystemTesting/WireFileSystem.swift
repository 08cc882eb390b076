import CFuse3
import FileSystemCore
import Glibc
import Synchronization
import SystemPackage

/// A ``FileSystem`` at the other end of the FUSE protocol: what a session serves, as its client sees it.
///
/// A request that becomes interrupted while it waits sends FUSE_INTERRUPT; see ``interruptAll()`` for a test's own.
public final class WireFileSystem: FileSystem {
    public let connection: WireConnection
    /// The parameters that the session agreed to at FUSE_INIT.
    public let agreement: fuse_init_out
    /// The features of the agreement, those beyond 32 bits included.
    public let agreedFlags: UInt64

    /// Performs FUSE_INIT as a kernel of the protocol 7.`minor` that has every feature. Throws what the session answers.
    public init(descriptor: Int32, minor: UInt32 = 45) throws(Errno) {
        connection = WireConnection(descriptor: descriptor)
        var request = WireRequest(FUSE_INIT)
        // fuse_init_in of protocol 7.36, which older headers do not have: version, readahead, all 64 flags, reserved words.
        let hello: [UInt32] = [7, minor, 131_072, .max, .max] + [UInt32](repeating: 0, count: 11)
        for word in hello { request.append(word) }
        let answer = connection.call(request)
        guard answer.error == 0 else { throw Errno(rawValue: answer.error) }
        agreement = answer.body.value(at: 0, as: fuse_init_out.self)
        let second = agreement.flags & UInt32(FUSE_INIT_EXT) == 0 ? 0 : answer.body.value(at: 32, as: UInt32.self)
        agreedFlags = UInt64(agreement.flags) | UInt64(second) << 32
    }

    /// Informs the session that no caller waits any more for the requests in progress.
    public func interruptAll() {
        for unique in connection.outstanding {
            var request = WireRequest(FUSE_INTERRUPT)
            request.append(fuse_interrupt_in(unique: unique))
            connection.post(request)
        }
    }

    /// Sends a request and returns the body of its answer.
    func call(
        _ opcode: fuse_opcode, _ node: NodeID, _ request: borrowing Request,
        _ fill: (inout WireRequest) -> Void = { _ in }
    ) throws(Errno) -> [UInt8] {
        var message = WireRequest(opcode, node: node, caller: request.caller)
        fill(&message)
        let answer = connection.call(message)
        guard answer.error == 0 else { throw Errno(rawValue: answer.error) }
        return answer.body
    }

    static func entry(_ body: [UInt8]) -> Entry {
        let out = body.value(at: 0, as: fuse_entry_out.self)
        return Entry(
            node: NodeID(rawValue: out.nodeid), attributes: Attributes(out.attr),
            entryTimeout: seconds(out.entry_valid, out.entry_valid_nsec),
            attributeTimeout: seconds(out.attr_valid, out.attr_valid_nsec))
    }

    static func timed(_ body: [UInt8]) -> TimedAttributes {
        let out = body.value(at: 0, as: fuse_attr_out.self)
        return TimedAttributes(Attributes(out.attr), timeout: seconds(out.attr_valid, out.attr_valid_nsec))
    }

    static func opened(_ body: [UInt8], at offset: Int = 0) -> OpenFileInfo {
        let out = body.value(at: offset, as: fuse_open_out.self)
        var file = OpenFileInfo(handle: HandleID(rawValue: out.fh))
        file.directIO = out.open_flags & UInt32(FOPEN_DIRECT_IO) != 0
        file.noFlush = out.open_flags & UInt32(FOPEN_NOFLUSH) != 0
        file.nonSeekable = out.open_flags & UInt32(FOPEN_NONSEEKABLE) != 0
        return file
    }

    private static func seconds(_ whole: UInt64, _ nanoseconds: UInt32) -> Double {
        Double(whole) + Double(nanoseconds) / 1e9
    }
}

extension Attributes {
    init(_ out: fuse_attr) {
        self.init(
            inode: InodeNumber(rawValue: out.ino),
            type: FileSystemCore.FileType(rawValue: out.mode & FileSystemCore.FileType.mask) ?? .regular,
            permissions: out.mode & 0o7777, linkCount: out.nlink, userID: out.uid, groupID: out.gid, size: out.size,
            accessTime: Timestamp(seconds: Int64(bitPattern: out.atime), nanoseconds: Int32(out.atimensec)),
            modificationTime: Timestamp(seconds: Int64(bitPattern: out.mtime), nanoseconds: Int32(out.mtimensec)),
            changeTime: Timestamp(seconds: Int64(bitPattern: out.ctime), nanoseconds: Int32(out.ctimensec)))
    }
}
