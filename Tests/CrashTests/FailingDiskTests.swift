import CFaultVFS
import Foundation
import KeychainTesting
import LinuxSupport
import TestSupport
import Testing

@testable import Keychain
@testable import KeychainStorage

/// Each call of SQLite's in a run of every kind of commit fails, once or from then on; the keychain stays in use.
@Suite(.serialized) struct FailingDiskTests {
    /// The result of some kinds of calls of the disk, and the error that a caller must get.
    struct Fault: Sendable {
        let name: String
        let kinds: UInt32
        let code: Int32
        var errno: Int32 = 0
        let error: @Sendable (KeychainFault) -> Bool
    }

    /// <https://www.sqlite.org/rescode.html>
    static let faults = [
        Fault(name: "EIO on write", kinds: fault_write.rawValue, code: 778, error: isInputOutput),
        Fault(name: "EIO on sync", kinds: fault_sync.rawValue, code: 1034, error: isInputOutput),
        Fault(name: "EIO on truncate", kinds: fault_truncate.rawValue, code: 1546, error: isInputOutput),
        // As SQLite's VFS reports it: SQLITE_IOERR_CORRUPTFS for EIO, SQLITE_IOERR_READ for others.
        Fault(name: "EIO on read", kinds: fault_read.rawValue, code: 8458, errno: EIO, error: isInputOutput),
        Fault(name: "ESTALE on read", kinds: fault_read.rawValue, code: 266, errno: ESTALE, error: isInputOutput),
        Fault(name: "EIO on delete", kinds: fault_delete.rawValue, code: 2570, error: isInputOutput),
        Fault(name: "ENOSPC on write", kinds: fault_write.rawValue, code: 13, error: isFull),
        Fault(name: "EDQUOT on write", kinds: fault_write.rawValue, code: 778, errno: EDQUOT, error: isFull),
        // A file system that allocates blocks later reports both only now.
        Fault(name: "EDQUOT on sync", kinds: fault_sync.rawValue, code: 1034, errno: EDQUOT, error: isFull),
        Fault(name: "ENOSPC on sync", kinds: fault_sync.rawValue, code: 1034, errno: ENOSPC, error: isFull),
        Fault(name: "EROFS on write", kinds: fault_write.rawValue, code: 778, errno: EROFS, error: { $0 == .readOnly }),
        Fault(
            name: "read-only medium",
            kinds: fault_write.rawValue | fault_truncate.rawValue | fault_sync.rawValue | fault_delete.rawValue
                | fault_open.rawValue,
            code: 8, error: { $0 == .readOnly }),
    ]

    private static let isFull: @Sendable (KeychainFault) -> Bool = { $0 == .diskFull }
    private static let isInputOutput: @Sendable (KeychainFault) -> Bool = { error in
        if case .io = error { true } else { false }
    }

    /// The call that fails, and for how long.
    private struct Case: CustomStringConvertible {
        let fault: Fault
        let first: Int
        let isLasting: Bool

        var description: String { "\(fault.name)/\(first)/\(isLasting ? "lasting" : "once")" }
    }

    @Test("F1, F4, F9: a failing disk loses no acknowledged change, and the keychain continues when the disk recovers")
    func everyCall() throws {
        try ProofLength.repeating { seed, deadline in
            var generator = SeededGenerator(seed: seed)
            var count = 0
            for found in try Self.cases(seed, &generator) {
                guard ProofLength.onlyCase ?? "\(found)" == "\(found)" else { continue }
                if run(found, seed: seed) { count += 1 }
                if let deadline, ContinuousClock.now > deadline, ProofLength.onlyCase == nil { break }
            }
            return count
        }
    }

    /// Some of the calls that a workload makes on a disk that does not fail: a few of each kind; with the next seed others.
    private static func cases(_ seed: UInt64, _ generator: inout SeededGenerator) throws -> [Case] {
        let storeUnderTest = try StoreUnderTest(seed: seed)
        let before = faults.map { storeUnderTest.disk.callCount(of: $0.kinds) }
        for step in Workload.steps { try step.run(storeUnderTest) }
        var cases: [Case] = []
        for (fault, before) in zip(faults, before) {
            let calls = storeUnderTest.disk.callCount(of: fault.kinds) - before
            for _ in 0..<min(calls, 3) {
                let first = Int(generator.next() % UInt64(calls))
                cases.append(Case(fault: fault, first: first, isLasting: generator.next() % 2 == 0))
            }
        }
        return cases
    }

    private func run(_ found: Case, seed: UInt64) -> Bool {
        do {
            let count = found.isLasting ? -1 : 1
            let plan = FaultDisk.Plan(
                kinds: found.fault.kinds, first: found.first, count: count, code: found.fault.code,
                error: found.fault.errno)
            try FailingRun(seed: seed).run(plan, found.fault.error)
            return true
        } catch {
            let command = ProofLength.command(seed: seed, test: "FailingDiskTests", case: "\(found)")
            Issue.record("\(error)\n\(command)")
            return false
        }
    }
}

/// A workload on a disk that fails at one place, watched step by step.
private final class FailingRun {
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    /// The number of steps that are examined after the one in which the disk failed; the last one always is.
    private static let attention = 3
    /// The maximum number of calls in a step, except a few steps whose preceding expectation is cheap.
    private static let callsOfStep = 700

    private let storeUnderTest: StoreUnderTest
    private var model: DiskModel
    private var applied: Int
    /// The expectation before the next step; nil if the disk cannot fail in it.
    private var expectation: Expectation?
    private var generator: SeededGenerator

    init(seed: UInt64) throws {
        storeUnderTest = try StoreUnderTest(seed: seed)
        try storeUnderTest.crashKeychain.store.checkpoint()
        model = DiskModel(
            database: [UInt8](try Data(contentsOf: URL(fileURLWithPath: storeUnderTest.disk.keychain))), sector: 512)
        applied = storeUnderTest.disk.eventCount
        expectation = try Expectation(of: storeUnderTest.crashKeychain)
        generator = SeededGenerator(seed: seed)
    }

    func run(_ plan: FaultDisk.Plan, _ isRight: (KeychainFault) -> Bool) throws {
        let begin = storeUnderTest.disk.callCount(of: plan.kinds)
        storeUnderTest.disk.fail(plan)
        var watched = Self.attention
        for step in Workload.steps {
            let failures = storeUnderTest.disk.failureCount
            let isNear = storeUnderTest.disk.callCount(of: plan.kinds) - begin + Self.callsOfStep > plan.first
            if failures == 0 { expectation = isNear ? try before() : nil }
            let answer = try answer(to: step)
            guard storeUnderTest.disk.failureCount > 0 else { continue }
            if storeUnderTest.disk.failureCount > failures, let answer, !isRight(answer) {
                throw Violation(description: "'\(step.name)' was answered with \(answer)")
            }
            if storeUnderTest.disk.failureCount == failures, let answer, !Self.isConsequence(answer) {
                throw Violation(description: "'\(step.name)' was answered with \(answer) after the disk had recovered")
            }
            watched -= 1
            if watched >= 0 || step.name == "close" { try compare(step, answer) }
            if watched < 0 { expectation = nil }
        }
    }

    private func before() throws -> Expectation {
        try storeUnderTest.disk.paused { try Recording.expectation(storeUnderTest) }
    }

    private func answer(to step: Step) throws -> KeychainFault? {
        do {
            try step.run(storeUnderTest)
            return nil
        } catch let error as KeychainFault {
            return error
        } catch let error as StoreOpenError {
            return KeychainFault(error)
        } catch let error as CopyError<KeychainFault> {
            return error.cause
        }
    }

    /// An earlier step has not done what this one begins with.
    private static func isConsequence(_ answer: KeychainFault) -> Bool {
        switch answer {
        case .itemNotFound, .interactionNotAllowed, .authFailed, .slotRefused, .duplicateItem, .notAvailable: true
        default: false
        }
    }

    /// The disk has recovered: compares the open keychain and the files that a power cut would leave now.
    private func compare(_ step: Step, _ answer: KeychainFault?) throws {
        storeUnderTest.disk.fail(nil)
        if (try? storeUnderTest.crashKeychain.store.current()) == nil, step.name != "close" {
            try storeUnderTest.openAgain()
        }
        let isToBeLocked = ["lock", "add an item while locked", "close"].contains(step.name)
        if storeUnderTest.crashKeychain.ring.state != .unlocked, !isToBeLocked {
            try storeUnderTest.crashKeychain.unlock(storeUnderTest.opener)
        }
        let now = try Recording.expectation(storeUnderTest)
        // A locked keychain is examined in a copy. A change that was refused because it could not be synchronized is in
        // the copy's log: as after a power cut, the value is old or new.
        let isCopy = storeUnderTest.crashKeychain.ring.state != .unlocked
        let mayBe = isCopy && answer != nil ? [now] + (expectation.map { [$0] } ?? []) : [now]
        if let answer, let expectation, !step.isInParts, !isCopy, now != expectation {
            throw Violation(
                description: "'\(step.name)' was answered with \(answer), and has changed "
                    + now.snapshot.difference(from: expectation.snapshot))
        }
        expectation = now
        while applied < storeUnderTest.disk.eventCount {
            model.apply(storeUnderTest.disk[applied])
            applied += 1
        }
        for loss in [DiskModel.PowerLossMode.all, .some(seed: generator.next(), keeping: 128)] {
            let oracle = CrashOracle(
                expectations: mayBe, deviceState: DeviceStateStub(storeUnderTest.deviceState, at: .max),
                continues: false)
            if let fault = try oracle.fault(of: model.files(after: loss)) {
                let output = answer.map { "\($0)" } ?? "done"
                throw Violation(description: "after '\(step.name)' (\(output)), \(loss): \(fault)")
            }
        }
    }
}

extension KeychainFault {
    fileprivate init(_ error: StoreOpenError) {
        switch error {
        case .diskFull: self = .diskFull
        case .readOnlyFileSystem: self = .readOnly
        case .io(let code): self = .io(code)
        case .initialization(let error): self = error
        default: self = .notAvailable
        }
    }
}
