import FileSystemCore
import Keychain
import SecretCrypto
import Synchronization
import SystemPackage

/// The control file `rpc` (contract, section 9): docs/protocol.md describes it.
extension KeychainFileSystem {
    /// Opens the file.
    ///
    /// - Throws: EINVAL for a descriptor that cannot read a response: requests written to it would never be executed.
    func openExchange(_ flags: OpenFlags, _ caller: Caller) throws(Errno) -> OpenFileInfo {
        guard let requests else { throw .noSuchFileOrDirectory }
        guard flags.isReadable else { throw .invalidArgument }
        let exchange = RPCHandle(
            service: requests, keys: stagingKeys, share: memory.share(of: caller.userID))
        var opened = OpenFileInfo(handle: table.withLock { $0.open(.exchange(exchange)) })
        (opened.nonSeekable, opened.noFlush) = (true, true)
        return opened
    }

    func write(_ data: RawSpan, to exchange: RPCHandle, _ caller: Caller) throws(Errno) -> Int {
        try checkOwner(caller)
        try exchange.write(data)
        return data.byteCount
    }

    /// Executes the request, unless that has been done, and returns the next bytes of its response.
    ///
    /// - Throws: ENODEV for the page cache (sendfile, mmap), which would retain the response, and read more than once.
    func read(
        _ exchange: RPCHandle, size: Int, owner: LockOwner?, _ request: inout Request,
        _ body: (inout Request, RawSpan) -> Void
    ) throws(Errno) {
        try checkOwner(request.caller)
        guard owner != nil else { throw .operationNotSupportedByDevice }
        let work = try exchange.begin()
        if case .none = work { return body(&request, [UInt8]().rawSpan) }
        if request.isInterrupted {
            exchange.putBack(work)
            throw .interrupted
        }
        recordUse()
        let response = try respond(to: work, of: exchange, &request)
        let piece = try piece(of: response, size, exchange)
        exchange.finish(piece.left)
        switch piece.bytes {
        case .some(let bytes): body(&request, bytes.bytes)
        case .none: body(&request, [UInt8]().rawSpan)
        }
    }

    /// Executes a request once. Its changes are shown regardless of its response. Other requests are served in the
    /// meantime if it takes longer than a lookup.
    private func respond(
        to work: RPCHandle.ReadAction, of exchange: RPCHandle, _ request: inout Request
    ) throws(Errno) -> PartialAnswer {
        switch work {
        case .none: throw .ioError
        case .resume(let response):
            request.willBlock()
            return response
        case .execute(let bytes):
            do throws(KeychainFault) {
                let (changes, source) = try exchange.respond(to: bytes, from: request.caller) { request.willBlock() }
                show(changes, &request)
                return PartialAnswer(source: source)
            } catch .allocate {
                // The request has not been executed.
                exchange.putBack(work)
                throw .noMemory
            } catch {
                exchange.finish(nil)
                throw error.errno
            }
        }
    }

    private func piece(
        of response: PartialAnswer, _ size: Int, _ exchange: RPCHandle
    ) throws(Errno) -> ResponseChunk {
        do throws(KeychainFault) {
            return try exchange.next(size, of: response)
        } catch .allocate {
            exchange.finish(response)
            throw .noMemory
        } catch {
            exchange.finish(nil)
            throw error.errno
        }
    }
}
