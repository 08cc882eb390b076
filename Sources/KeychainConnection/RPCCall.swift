import SecretCrypto
import SystemPackage

/// A request on a channel, and its response.
struct RPCCall: ~Copyable {
    /// The maximum duration of a request in milliseconds, even if the daemon reports its status.
    private static let limit = 600_000
    private static let partCount = 32 << 10

    private let channels: ProcessLanes
    private var lane: RPCChannel?
    private var waited = 0

    init(_ channels: ProcessLanes) {
        self.channels = channels
    }

    /// Sends a request: `head`, then `secret`. Returns the beginning of the response.
    mutating func ask(_ head: RawSpan, secret: RawSpan) throws(RPCChannel.Failure) -> SecretBytes {
        let count = head.byteCount + secret.byteCount
        var start = 0
        while count - start > Self.partCount {
            let part = try Self.part(start..<start + Self.partCount, of: head, secret)
            start += Self.partCount
            _ = try run(.send(part))
        }
        return try piece(.ask(Self.part(start..<count, of: head, secret)))
    }

    /// Returns the next chunk of the response; empty at its end.
    mutating func next() throws(RPCChannel.Failure) -> SecretBytes { try piece(.read) }

    /// Releases the channel after the complete response was read.
    consuming func finish() {
        if let lane { channels.pool.release(lane) }
        lane = nil
    }

    deinit {
        lane?.abandon()
    }

    private mutating func piece(_ job: consuming RPCChannel.Job) throws(RPCChannel.Failure) -> SecretBytes {
        guard let piece = try run(job) else { throw .lost(.ioError) }
        return piece
    }

    /// Runs a job. Returns nil after a job that only sends.
    private mutating func run(_ job: consuming RPCChannel.Job) throws(RPCChannel.Failure) -> SecretBytes? {
        let lane = try give(job)
        while true {
            switch lane.outcome(within: channels.timeout) {
            case .sent: return nil
            case .piece(let piece): return piece
            case .failed(let error): throw error
            case nil:
                waited += channels.timeout
                guard waited < Self.limit, !lane.isElsewhere(than: channels.mountPoint()),
                    channels.probe.daemonResponds()
                else { throw lane.abandon() }
            }
        }
    }

    private mutating func give(_ job: consuming RPCChannel.Job) throws(RPCChannel.Failure) -> RPCChannel {
        guard !channels.probe.isSilent else { throw .notAsked(.timedOut) }
        var job: RPCChannel.Job? = job
        if let lane {
            guard lane.submit(&job) else { throw .lost(.ioError) }
            return lane
        }
        while true {
            do throws(Errno) {
                if let new = try channels.pool.start(&job, within: channels.timeout) {
                    lane = new
                    return new
                }
            } catch {
                throw .notAsked(error)
            }
            waited += channels.timeout
            guard waited < Self.limit, channels.probe.daemonResponds() else { throw .notAsked(.timedOut) }
        }
    }

    /// Copies a part of a request to locked memory.
    private static func part(
        _ range: Range<Int>, of head: RawSpan, _ secret: RawSpan
    ) throws(RPCChannel.Failure) -> SecretBytes {
        guard var part = try? SecretBytes.waiting(count: range.count, attempts: RPCFile.attempts) else {
            throw .notAsked(.noMemory)
        }
        var output = part.mutableBytes
        let inHead = range.clamped(to: 0..<head.byteCount)
        _ = output.write(head.extracting(inHead))
        let inSecret = range.clamped(to: head.byteCount..<head.byteCount + secret.byteCount)
        let shifted = inSecret.lowerBound - head.byteCount..<inSecret.upperBound - head.byteCount
        _ = output.write(secret.extracting(shifted), at: inHead.count)
        return part
    }
}
