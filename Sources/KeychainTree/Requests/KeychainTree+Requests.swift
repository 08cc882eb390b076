import FileSystemCore
import Keychain
import SecretCrypto
import Synchronization
import SystemPackage

/// The control file `rpc` (contract, section 9): docs/protocol.md describes it.
extension KeychainTree {
    /// EINVAL for who could not read an answer: what he writes would never be carried out.
    func openExchange(_ flags: OpenFlags, _ caller: Caller) throws(Errno) -> OpenFileInfo {
        guard let requests else { throw .noSuchFileOrDirectory }
        guard flags.isReadable else { throw .invalidArgument }
        let exchange = Exchange(
            service: requests, keys: stagingKeys, share: memory.share(of: caller.userID))
        var opened = OpenFileInfo(handle: table.withLock { $0.open(.exchange(exchange)) })
        (opened.nonSeekable, opened.noFlush) = (true, true)
        return opened
    }

    func write(_ data: RawSpan, to exchange: Exchange, _ caller: Caller) throws(Errno) -> Int {
        try checkOwner(caller)
        try exchange.write(data)
        return data.byteCount
    }

    /// Carries out the request, if that has not been done, and gives the next bytes of its answer.
    ///
    /// ENODEV for the page cache (sendfile, mmap): it would keep the answer, and ask more than once.
    func read(
        _ exchange: Exchange, size: Int, owner: LockOwner?, _ request: inout Request,
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
        noteUse()
        let answer = try answer(to: work, of: exchange, &request)
        let piece = try piece(of: answer, size, exchange)
        exchange.finish(piece.left)
        switch piece.bytes {
        case .some(let bytes): body(&request, bytes.bytes)
        case .none: body(&request, [UInt8]().rawSpan)
        }
    }

    /// Carries out a request, once: whatever becomes of its answer, what it has changed is told. Others are served meanwhile
    /// where it takes longer than a look-up.
    private func answer(
        to work: Exchange.Work, of exchange: Exchange, _ request: inout Request
    ) throws(Errno) -> PartialAnswer {
        switch work {
        case .none: throw .ioError
        case .goOn(let answer):
            request.willBlock()
            return answer
        case .carryOut(let bytes):
            do throws(KeychainFault) {
                let (changes, source) = try exchange.answer(to: bytes, from: request.caller) { request.willBlock() }
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
        of answer: PartialAnswer, _ size: Int, _ exchange: Exchange
    ) throws(Errno) -> AnswerPiece {
        do throws(KeychainFault) {
            return try exchange.next(size, of: answer)
        } catch .allocate {
            exchange.finish(answer)
            throw .noMemory
        } catch {
            exchange.finish(nil)
            throw error.errno
        }
    }
}
