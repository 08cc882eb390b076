import SecretCrypto
import SystemPackage

/// One request on its way through a lane, and its answer.
struct Call: ~Copyable {
    /// In milliseconds: no request takes longer, whatever the daemon says of itself.
    private static let limit = 600_000
    private static let partCount = 32 << 10

    private let lanes: ProcessLanes
    private var lane: Lane?
    private var waited = 0

    init(_ lanes: ProcessLanes) {
        self.lanes = lanes
    }

    /// Sends a request: `head`, then `secret`. Returns the beginning of the answer.
    mutating func ask(_ head: RawSpan, secret: RawSpan) throws(Lane.Failed) -> SecretBytes {
        let count = head.byteCount + secret.byteCount
        var start = 0
        while count - start > Self.partCount {
            let part = try Self.part(start..<start + Self.partCount, of: head, secret)
            start += Self.partCount
            _ = try run(.send(part))
        }
        return try piece(.ask(Self.part(start..<count, of: head, secret)))
    }

    /// The next piece of the answer; empty at its end.
    mutating func next() throws(Lane.Failed) -> SecretBytes { try piece(.read) }

    /// The answer was read to its end.
    consuming func finish() {
        if let lane { lanes.pool.giveBack(lane) }
        lane = nil
    }

    deinit {
        lane?.abandon()
    }

    private mutating func piece(_ job: consuming Lane.Job) throws(Lane.Failed) -> SecretBytes {
        guard let piece = try run(job) else { throw .lost(.ioError) }
        return piece
    }

    /// Nil for what was only sent.
    private mutating func run(_ job: consuming Lane.Job) throws(Lane.Failed) -> SecretBytes? {
        let lane = try give(job)
        while true {
            switch lane.outcome(within: lanes.patience) {
            case .sent: return nil
            case .piece(let piece): return piece
            case .failed(let error): throw error
            case nil:
                waited += lanes.patience
                guard waited < Self.limit, !lane.isElsewhere(than: lanes.mountPoint()),
                    lanes.liveness.daemonAnswers()
                else { throw lane.abandon() }
            }
        }
    }

    private mutating func give(_ job: consuming Lane.Job) throws(Lane.Failed) -> Lane {
        guard !lanes.liveness.isSilent else { throw .notAsked(.timedOut) }
        var job: Lane.Job? = job
        if let lane {
            guard lane.give(&job) else { throw .lost(.ioError) }
            return lane
        }
        while true {
            do throws(Errno) {
                if let new = try lanes.pool.start(&job, within: lanes.patience) {
                    lane = new
                    return new
                }
            } catch {
                throw .notAsked(error)
            }
            waited += lanes.patience
            guard waited < Self.limit, lanes.liveness.daemonAnswers() else { throw .notAsked(.timedOut) }
        }
    }

    /// A part of a request, in locked memory.
    private static func part(
        _ range: Range<Int>, of head: RawSpan, _ secret: RawSpan
    ) throws(Lane.Failed) -> SecretBytes {
        guard var part = try? SecretBytes.waiting(count: range.count, attempts: RequestFile.attempts) else {
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
