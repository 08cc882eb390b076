import FileSystemCore
import SystemPackage
import Testing

@testable import KeychainTree

/// F1 as a pure value: one step per line.
@Suite struct CommitStateTests {
    private let shell = LockOwner(rawValue: 1)
    private let child = LockOwner(rawValue: 2)

    private func created() -> CommitState {
        var state = CommitState()
        state.opened()
        return state
    }

    @Test("F1: printf x > item: the FLUSH before the first byte commits nothing, the one after it does")
    func shellRedirection() {
        var state = created()
        #expect(state.flush(by: shell, callerIsDying: false) == .nothing)
        state.changed(by: shell)
        #expect(state.flush(by: shell, callerIsDying: false) == .commit)
        state.committed()
        #expect(state.lastClose() == .nothing)
    }

    @Test("F1: { a; true; b; } > f: each process that wrote commits, one that inherited the descriptor does not")
    func group() {
        var state = created()
        state.changed(by: child)
        #expect(state.flush(by: shell, callerIsDying: false) == .nothing)
        #expect(state.flush(by: child, callerIsDying: false) == .commit)
        state.committed()
        #expect(state.flush(by: LockOwner(rawValue: 3), callerIsDying: false) == .nothing)
        state.changed(by: LockOwner(rawValue: 4))
        #expect(state.flush(by: child, callerIsDying: false) == .nothing)
        #expect(state.flush(by: LockOwner(rawValue: 4), callerIsDying: false) == .commit)
    }

    @Test("F1: touch f and : > f commit at the last close")
    func creationAlone() {
        var state = created()
        #expect(state.flush(by: shell, callerIsDying: false) == .nothing)
        #expect(state.lastClose() == .commit)
    }

    @Test("F1: a caller dying of a signal commits nothing, and the value is dropped at the last close")
    func killed() {
        var state = created()
        state.changed(by: child)
        #expect(state.flush(by: child, callerIsDying: true) == .nothing)
        #expect(state.isAbandoned)
        #expect(state.flush(by: shell, callerIsDying: false) == .nothing)
        #expect(state.lastClose() == .drop)
    }

    @Test("F1: ^C before the first byte drops the creation too")
    func killedBeforeFirstByte() {
        var state = created()
        #expect(state.flush(by: child, callerIsDying: true) == .nothing)
        #expect(state.lastClose() == .drop)
    }

    @Test("F1: an open that was killed before it had its descriptor leaves nothing: the last close comes without FLUSH")
    func killedInsideOpen() {
        #expect(created().lastClose() == .drop)
        var synced = created()
        #expect(synced.sync() == .commit)
        #expect(synced.lastClose() == .commit)
    }

    @Test("F1: a later write, ftruncate or fsync takes an abandoned value up again")
    func takenUp() {
        var state = created()
        _ = state.flush(by: child, callerIsDying: true)
        state.changed(by: shell)
        #expect(!state.isAbandoned)
        #expect(state.lastClose() == .commit)
        _ = state.flush(by: child, callerIsDying: true)
        #expect(state.sync() == .commit)
        #expect(!state.isAbandoned)
    }

    @Test("F1: the later death of a writer does not abandon a committed value")
    func diesAfterCommit() {
        var state = created()
        state.changed(by: child)
        state.committed()
        #expect(state.flush(by: child, callerIsDying: true) == .nothing)
        #expect(state.lastClose() == .nothing)
    }

    @Test("F1: a process that wrote and closes gets 0 only if its value is committed, even if another writer died")
    func otherWriterDies() {
        var state = created()
        state.changed(by: shell)
        state.changed(by: child)
        _ = state.flush(by: child, callerIsDying: true)
        #expect(state.flush(by: shell, callerIsDying: false) == .commit)
    }

    @Test("F1: fsync takes up a value that a refused write has not changed, too: close repeats no error after it")
    func refusedThenSynced() {
        var state = CommitState()
        state.refused(with: .fileTooLarge)
        #expect(state.sync() == .nothing)
        #expect(state.flush(by: child, callerIsDying: false) == .nothing)
    }

    @Test("F1: close repeats the error of a refused write, and the value is dropped")
    func refused() {
        var state = created()
        state.changed(by: child)
        state.refused(with: .fileTooLarge)
        #expect(state.flush(by: child, callerIsDying: false) == .fail(.fileTooLarge))
        #expect(state.lastClose() == .drop)
        state.changed(by: child)
        #expect(state.flush(by: child, callerIsDying: false) == .commit)
    }

    @Test("F1: close repeats a refused write's error even if nothing else was staged, and nothing is dropped")
    func refusedWithoutChange() {
        var state = CommitState()
        state.refused(with: .noSpace)
        #expect(state.flush(by: child, callerIsDying: false) == .fail(.noSpace))
        #expect(state.lastClose() == .nothing)
    }

    @Test("F1: after a failed commit every FLUSH tries again, from any process")
    func failedCommit() {
        var state = created()
        state.changed(by: child)
        #expect(state.flush(by: child, callerIsDying: false) == .commit)
        state.commitFailed(with: .noSpace)
        #expect(state.flush(by: shell, callerIsDying: false) == .commit)
        state.committed()
        #expect(state.flush(by: shell, callerIsDying: false) == .nothing)
    }
}
