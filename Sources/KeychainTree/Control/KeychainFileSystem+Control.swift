import FileSystemCore
import Keychain
import SecretCrypto
import Synchronization
import SystemPackage

extension KeychainFileSystem {
    /// Opens a control file. Reads return its contents at the time of the open; its size is 0, and offsets are ignored.
    func open(_ file: ControlFileKind, _ request: borrowing Request) -> OpenFileInfo {
        let handle = Handle.control(ControlHandle(file, response: file == .status ? status(request) : []))
        var opened = OpenFileInfo(handle: table.withLock { $0.open(handle) })
        opened.nonSeekable = true
        // A FLUSH would wait behind those that commit.
        opened.noFlush = true
        return opened
    }

    /// Returns the status. It contains the number of items in the store.
    private func status(_ request: borrowing Request) -> [UInt8] {
        request.willBlock()
        request.releaseMessage()
        return commands.status(of: self)
    }

    /// Requires that the caller is the mounting user or root.
    ///
    /// - Throws: EACCES, regardless of the mode and of the process that opened the file.
    func checkOwner(_ caller: Caller) throws(Errno) {
        guard caller.userID == options.userID || caller.userID == 0 else { throw .permissionDenied }
    }

    /// Runs a command, which is one write. Its result replaces the contents that the descriptor reads. The command may
    /// take minutes, so it is copied and the message released.
    func write(_ data: RawSpan, to handle: ControlHandle, request: inout Request) throws(Errno) -> Int {
        try checkOwner(request.caller)
        let count = data.byteCount
        request.willBlock()
        let command: ControlCommand
        switch handle.file {
        case .status, .rpc: throw .badFileDescriptor
        case .control: command = try ControlCommand(data)
        case .lock: command = .lock
        }
        request.releaseMessage()
        if let limit = options.commandLimit, try start(command, for: handle, limit, request.caller) { return count }
        handle.set(try mapped { () throws(KeychainFault) in try command.run(by: commands, on: self, &request) })
        return count
    }

    /// Runs a command on another thread, and returns after its end or after the limit. Returns false if no thread can
    /// be created.
    private func start(
        _ command: ControlCommand, for handle: ControlHandle, _ limit: CommandLimit, _ caller: Caller
    ) throws(Errno) -> Bool {
        try handle.run(limit) { [self] in
            var request = Request(caller: caller)
            do throws(KeychainFault) {
                return (.success(try command.run(by: commands, on: self, &request)), request.notificationsBeforeReply)
            } catch {
                return (.failure(error), request.notificationsBeforeReply)
            }
        }
    }
}
