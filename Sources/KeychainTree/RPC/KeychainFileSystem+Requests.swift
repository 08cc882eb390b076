import FileSystemCore
import Keychain
import SecretCrypto
import Synchronization
import SystemPackage

/// The control file `rpc` (contract, section 9): docs/protocol.md describes it.
extension KeychainFileSystem {
    /// EINVAL for who could not read an answer: what he writes would never be carried out.
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

    /// Carries out the request, if that has not been done, and gives the next bytes of its answer.
    ///
    /// ENODEV for the page cache (sendfile, mmap): it would keep the answer, and ask more than once.
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

    /// Carries out a request, once: whatever becomes of its answer, what it has changed is told. Others are served meanwhile
    /// where it takes longer than a look-up.
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
                // Nothing has been done.
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
