import Foundation
import Testing

@testable import Fuse

/// F5 and F1: the information in `/proc` about the caller of a request.
@Suite struct ThreadGroupTests {
    @Test("F5: every thread of a process has the identity of the process, and its child another one")
    func threads() async throws {
        let leader = try #require(ThreadGroup(ofThread: getpid()))
        #expect(leader.id == getpid())
        #expect(leader.startTime > 0)
        let others = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").compactMap { Int32($0) }
        // Other tests create and end threads; all remaining threads have one identity.
        let groups = Set(others.compactMap(ThreadGroup.init(ofThread:)))
        #expect(groups == [leader])
        let parent = try #require(ThreadGroup(ofThread: getppid()))
        #expect(parent.id != leader.id)
    }

    @Test("F1: a running thread has memory, an exited thread has no memory, and an unknown thread is not found")
    func memory() throws {
        #expect(!ThreadStatus.hasNoMemory(threadID: getpid()))
        #expect(!ThreadStatus.hasNoMemory(threadID: Int32.max))
        #expect(!ThreadStatus.hasNoMemory(threadID: 0))
        // The kernel's own threads have no memory either; thread 2, kthreadd, always exists.
        if ThreadStatus(threadID: 2) != nil { #expect(ThreadStatus.hasNoMemory(threadID: 2)) }
    }

    @Test("F5: an unknown thread, or one of an invisible PID namespace, has no identity")
    func unknown() {
        #expect(ThreadGroup(ofThread: 0) == nil)
        #expect(ThreadGroup(ofThread: -1) == nil)
        #expect(ThreadGroup(ofThread: Int32.max) == nil)
    }

    @Test("F5: a process that calls itself something odd does not become another one")
    func hostileNames() {
        let fields = (3...52).map(String.init).joined(separator: " ")
        #expect(ThreadGroup.startTime(inStat: Array("7 (a) S 1 1 (b)) \(fields)\n".utf8)) == 22)
        #expect(ThreadGroup.startTime(inStat: Array("7 (a) S 1".utf8)) == nil)
        #expect(ThreadGroup.startTime(inStat: Array("".utf8)) == nil)
        let status = "Name:\tx\\nTgid:\t9\nUmask:\t0022\nTgid:\t7\nPid:\t8\n"
        #expect(ThreadGroup.groupID(inStatus: Array(status.utf8)) == 7)
        #expect(ThreadGroup.groupID(inStatus: Array("Name:\tx\n".utf8)) == nil)
        #expect(ThreadGroup.groupID(inStatus: Array("Tgid:\t\n".utf8)) == nil)
        #expect(ThreadGroup.groupID(inStatus: Array("Tgid:\t2147483648\n".utf8)) == nil)
        #expect(ThreadGroup.startTime(inStat: Array("7 (a)\(String(repeating: " x", count: 30))".utf8)) == nil)
    }
}
