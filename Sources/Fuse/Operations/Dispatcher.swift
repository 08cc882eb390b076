import CFuse3
import FileSystemCore
import Glibc
import SystemPackage

/// The state that every operation of a session needs, passed through libfuse as its user data.
///
/// Operations are C functions without context, created in nonisolated functions because libfuse calls them on this
/// module's workers. Each decodes its arguments, calls the file system and sends exactly one reply. No lock is held
/// during the call.
final class Dispatcher: Sendable {
    let fileSystem: any FileSystem
    let notifier: Notifier

    init(_ fileSystem: any FileSystem, newestProtocolMinor: UInt32) {
        self.fileSystem = fileSystem
        notifier = Notifier(newestProtocolMinor: newestProtocolMinor)
    }

    /// Returns the dispatcher of the session through which `request` has arrived.
    static func of(_ request: OpaquePointer) -> Dispatcher? {
        guard let data = unsafe fuse_req_userdata(request) else { return nil }
        return unsafe Unmanaged<Dispatcher>.fromOpaque(data).takeUnretainedValue()
    }

    /// Handles a request without a reply.
    func serveSilently(_ caller: Caller, _ body: (any FileSystem, inout Request) -> Void) {
        var request = Request(caller: caller)
        body(fileSystem, &request)
        let notifications = Notifications(request)
        if !notifications.isEmpty { notifier.deliver(notifications) {} }
    }
}

/// Handles one request. The result or the error of `body` becomes the reply.
func serve<Body: ReplyBody>(
    _ raw: OpaquePointer?, _ body: (any FileSystem, inout Request) throws(Errno) -> Body
) {
    guard let raw = unsafe raw, let dispatcher = unsafe Dispatcher.of(raw) else { return }
    let ticket = unsafe FuseRequest(raw, dispatcher)
    let reply = Reply<Body>(ticket)
    var request = ticket.request()
    do throws(Errno) {
        let answer = try body(dispatcher.fileSystem, &request)
        reply.send(answer, notifying: Notifications(request))
    } catch {
        reply.fail(error, notifying: Notifications(request))
    }
}

/// Decodes a name.
///
/// - Throws: ENAMETOOLONG beyond 255 bytes; EINVAL if the bytes are not a name.
func entryName(_ text: UnsafePointer<CChar>?) throws(Errno) -> EntryName {
    let bytes = unsafe bytes(text)
    guard bytes.count <= EntryName.maximumLength else { throw .fileNameTooLong }
    guard let name = EntryName(bytes) else { throw .invalidArgument }
    return name
}

/// Returns the bytes of a C string, without its NUL.
func bytes(_ text: UnsafePointer<CChar>?) -> [UInt8] {
    guard let text = unsafe text else { return [] }
    return unsafe Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
}

extension HandleID {
    /// The handle of an open file; 0 if libfuse passes none.
    init(_ information: UnsafeMutablePointer<fuse_file_info>?) {
        unsafe self.init(rawValue: information?.pointee.fh ?? 0)
    }
}

extension LockOwner {
    init(_ information: UnsafeMutablePointer<fuse_file_info>?) {
        unsafe self.init(rawValue: information?.pointee.lock_owner ?? 0)
    }
}
