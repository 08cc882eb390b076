import FileSystemCore

/// Something that takes the steps of a program.
public protocol SystemUnderTest {
    /// The time in seconds until the effect of a step must be visible: the kernel does not wait for the RELEASE of the
    /// last close.
    static var timeout: Double { get }
    /// In seconds; never where it would be in doubt whether names that were freed at `times` can still be taken again.
    func now(avoiding times: [Double]) -> Double
    /// Performs the step and returns its outcome; throws if the system itself has failed.
    mutating func perform(_ operation: Step) throws -> Outcome
    /// Ends it; what its check has found, or nil.
    mutating func finish() throws -> String?
}

/// The first difference between the system and the model.
public struct Difference: Error, CustomStringConvertible {
    public let program: [Step]
    /// The number of steps that were performed.
    public let steps: Int
    public let what: String

    /// Identifies the fault: differences of the same kind most likely have the same cause.
    fileprivate var kind: String { what.filter { !$0.isNumber } }

    public var description: String {
        let lines = program.prefix(steps).map { "  \($0.process): \($0.action)" }
        return lines.joined(separator: "\n") + "\n=> \(what)"
    }
}

/// Runs programs on a system and on the model, and compares.
public struct Comparison<System: SystemUnderTest> {
    public let valueLimit: Int
    /// The number of steps between two complete inspections.
    private let interval: Int
    private let makeSystem: () throws -> System

    public init(valueLimit: Int, interval: Int = 30, _ makeSystem: @escaping () throws -> System) {
        self.valueLimit = valueLimit
        self.interval = interval
        self.makeSystem = makeSystem
    }

    /// The first difference; nil without one.
    public func run(_ program: [Step]) throws -> Difference? { try run(program, interval: interval) }

    private func run(_ program: [Step], interval: Int) throws -> Difference? {
        var system = try makeSystem()
        var model = Model(valueLimit: valueLimit)
        var oracle = ModelOracle()
        for (index, operation) in program.enumerated() {
            var what = try difference(operation, &system, &model, &oracle)
            if what == nil, index % interval == interval - 1 || isLookedAt(operation, index, of: program.count) {
                what = try inspect(&system, &model, &oracle)
            }
            guard let what else { continue }
            _ = try? system.finish()
            return Difference(program: program, steps: index + 1, what: what)
        }
        return try system.finish().map { Difference(program: program, steps: program.count, what: $0) }
    }

    private func isLookedAt(_ operation: Step, _ index: Int, of count: Int) -> Bool {
        index == count - 1 || operation.action.changesState
            || System.timeout > 0 && operation.action.closes
    }

    private func difference(
        _ operation: Step, _ system: inout System, _ model: inout Model, _ oracle: inout ModelOracle
    ) throws -> String? {
        model.advance(to: system.now(avoiding: model.freedTimes))
        let outcome = try system.perform(operation)
        return oracle.difference(model.take(operation), outcome)
    }

    /// Compares all observable state: through a new process, and through every descriptor.
    private func inspect(_ system: inout System, _ model: inout Model, _ oracle: inout ModelOracle) throws -> String? {
        let deadline = ContinuousClock.now + .seconds(System.timeout)
        while true {
            var (attempt, trial) = (oracle, model)
            var what: String?
            for step in Self.looks where what == nil {
                what = try difference(step, &system, &trial, &attempt).map { "\(step.process): \(step.action): \($0)" }
            }
            if what != nil, ContinuousClock.now < deadline { continue }
            (oracle, model) = (attempt, trial)
            return what
        }
    }

    private static var looks: [Step] {
        let services = Generator.services + ["generic-passwords/u"]
        let places = services.flatMap { service in Generator.names.map { Place(service, $0) } }
        let actions: [Action] =
            Generator.folders.map { .list($0) } + services.flatMap { [.list($0), .statDirectory($0)] }
            + places.flatMap { [.stat($0), .contents($0), .attributes($0)] }
        let throughSlots = Generator.processes.flatMap { process in
            Generator.slots.flatMap { slot in
                [.status(slot: slot), .read(slot: slot, offset: 0, count: 100_000)].map { Step(process, $0) }
            }
        }
        return actions.map { Step(-1, $0) } + throughSlots
    }

    // MARK: Shrinking

    /// The shortest program found in that time that still fails so: whole chunks go first, then single steps, then arguments
    /// get simpler.
    public func shrink(_ first: Difference, seconds: Double = 60) throws -> Difference {
        var best = first
        let deadline = ContinuousClock.now + .seconds(seconds)
        var size = best.steps / 2
        while size > 0 {
            var index = 0
            while index < best.steps, ContinuousClock.now < deadline {
                var program = Array(best.program.prefix(best.steps))
                program.removeSubrange(index..<min(index + size, program.count))
                if let found = try again(program, as: first) { best = found } else { index += size }
            }
            size /= 2
        }
        for index in 0..<best.steps {
            for simpler in best.program[index].simpler where index < best.steps && ContinuousClock.now < deadline {
                var program = Array(best.program.prefix(best.steps))
                program[index] = simpler
                if let found = try again(program, as: first) { best = found }
            }
        }
        return best
    }

    private func again(_ program: [Step], as first: Difference) throws -> Difference? {
        // The steps at which the state is inspected must not depend on the length of the program.
        try run(program, interval: program.count < 60 ? 1 : interval).flatMap { $0.kind == first.kind ? $0 : nil }
    }
}

extension Action {
    fileprivate var changesState: Bool {
        switch self {
        case .lock, .remount, .remountLocked, .kill: true
        default: false
        }
    }

    fileprivate var closes: Bool {
        switch self {
        case .close, .exit, .die, .spawn: true
        default: false
        }
    }
}

extension Step {
    /// Simpler variants of this step.
    fileprivate var simpler: [Step] {
        let actions: [Action] =
            switch action {
            case .write(let slot, _, let fill): [.write(slot: slot, offset: 0, BytePattern(1, min(fill.count, 3)))]
            case .resize(let slot, _): [.resize(slot: slot, size: 1)]
            case .truncate(let place, _): [.truncate(place, size: 1)]
            case .read(let slot, _, let count): [.read(slot: slot, offset: 0, count: count)]
            case .spawn(.some, let fill): [.spawn(slot: nil, fill)]
            case .open(let place, let flags, let slot):
                [OpenFlags.append, .dsync, .exclusive, .truncate].map {
                    .open(place, flags: OpenFlags(rawValue: flags).subtracting($0).rawValue, slot: slot)
                }
            default: []
            }
        let sameProcess = process == 0 ? [] : [Step(0, action)]
        return sameProcess + actions.filter { $0 != action }.map { Step(process, $0) }
    }
}
