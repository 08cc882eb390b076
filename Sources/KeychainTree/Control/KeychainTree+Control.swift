import FileSystemCore
import Keychain
import SecretCrypto
import Synchronization
import SystemPackage

extension KeychainTree {
    /// Opens a control file. Reads return its contents at the open; its size is 0, and offsets mean nothing.
    func open(_ file: ControlFile, _ request: borrowing Request) -> OpenedFile {
        let handle = Handle.control(ControlHandle(file, answer: file == .status ? status(request) : []))
        var opened = OpenedFile(handle: table.withLock { $0.open(handle) })
        opened.nonSeekable = true
        return opened
    }

    /// The status counts the items in the store.
    private func status(_ request: borrowing Request) -> [UInt8] {
        request.handOn()
        request.releaseMessage()
        return commands.status(of: self)
    }

    /// EACCES for everybody but the mounting user and root, whatever the mode says and whoever opened the file.
    func checkOwner(_ caller: Caller) throws(Errno) {
        guard caller.userID == options.userID || caller.userID == 0 else { throw .permissionDenied }
    }

    /// Runs a command, which is one write; its result replaces what the descriptor reads. The command may take minutes: it is copied, and
    /// the message released.
    func write(_ data: RawSpan, to handle: ControlHandle, request: inout Request) throws(Errno) -> Int {
        let count = data.byteCount
        request.handOn()
        switch handle.file {
        case .status, .rpc: throw .badFileDescriptor
        case .control:
            let command = try mapped { () throws(KeychainError) in
                try KeychainError.translating { () throws(CryptoError) in try SecretBytes(copying: data) }
            }
            request.releaseMessage()
            try run(command.bytes, for: handle, request: &request)
        case .lock:
            request.releaseMessage()
            try run(Array("lock".utf8).rawSpan, for: handle, request: &request)
        }
        return count
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
