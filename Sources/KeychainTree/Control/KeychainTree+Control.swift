import FileSystemCore
import Keychain
import SecretCrypto
import Synchronization
import SystemPackage

extension KeychainTree {
    /// A control file shows what it has at its open; its size is 0, and offsets mean nothing.
    func open(_ file: ControlFile) throws(Errno) -> OpenedFile {
        let answer = file == .status ? commands.status(of: self) : []
        let handle = Handle.control(ControlHandle(file, answer: answer))
        var opened = OpenedFile(handle: table.withLock { $0.open(handle) })
        opened.nonSeekable = true
        return opened
    }

    /// EACCES for everybody but the mounting user and root, whatever the mode says and whoever opened the file.
    func checkOwner(_ caller: Caller) throws(Errno) {
        guard caller.userID == options.userID || caller.userID == 0 else { throw .permissionDenied }
    }

    /// One write is one command; its answer replaces what the descriptor reads.
    func write(_ data: RawSpan, to handle: ControlHandle, request: inout Request) throws(Errno) -> Int {
        let command: [UInt8]
        switch handle.file {
        case .status, .rpc: throw .badFileDescriptor
        case .control:
            try run(data, for: handle, request: &request)
            return data.byteCount
        case .lock: command = Array("lock".utf8)
        }
        try run(command.rawSpan, for: handle, request: &request)
        return data.byteCount
    }

    private func run(_ command: RawSpan, for handle: ControlHandle, request: inout Request) throws(Errno) {
        try checkOwner(request.caller)
        do {
            handle.set(try commands.run(command, on: self, request: &request))
        } catch {
            throw error.errno
        }
    }
}
