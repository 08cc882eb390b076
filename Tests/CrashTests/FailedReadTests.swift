import CFaultVFS
import Foundation
import Testing

@testable import Keychain
@testable import KeychainStorage

/// Reads of an intact file fail: that is an error of the disk, and no damage.
@Suite(.serialized) struct FailedReadTests {
    /// SQLITE_IOERR_CORRUPTFS, which SQLite changes to SQLITE_CORRUPT; SQLITE_IOERR_READ.
    static let errors: [(code: Int32, errno: Int32)] = [(8458, EIO), (266, ESTALE)]

    @Test(
        "S2, S4: a verification repeats a read that fails once or ten times, and ends as on an intact disk",
        arguments: [1, 10], errors)
    func repeated(count: Int, error: (code: Int32, errno: Int32)) async throws {
        for first in [0, 3, 15] {
            let scene = try Scene()
            defer { scene.close() }
            scene.failReads(first: first, count: count, error)
            #expect(await scene.result() == .verified)
            #expect(scene.disk.failureCount == count, "from read \(first) on")
            try scene.add("new")
        }
    }

    @Test(
        "S2, S4: a disk that fails from then on leaves the rows unverified; when it has recovered, names are accepted, and the next attempt verifies the rows",
        arguments: errors)
    func lasting(error: (code: Int32, errno: Int32)) async throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.failReads(first: 3, count: -1, error)
        #expect(await scene.result() == .unverified)
        #expect(throws: KeychainFault.io(error.code == 8458 ? 266 : error.code)) {
            try scene.keychain.verifyNow()
        }
        #expect(throws: KeychainFault.io(266)) { try scene.keychain.check() }
        scene.disk.fail(nil)
        try scene.add("new")
        scene.keychain.watchStore()
        #expect(await scene.result() == .verified)
        #expect(try scene.keychain.check().isConsistent)
    }
}

/// A keychain that was just opened, so that its pages are read from the disk, and its worker.
private final class Scene {
    private let storeUnderTest: StoreUnderTest
    private let results = AsyncStream<IntegrityState>.makeStream()
    private var iterator: AsyncStream<IntegrityState>.AsyncIterator
    private var isStarted = false

    var disk: FaultDisk { storeUnderTest.disk }
    var keychain: KeychainStore { storeUnderTest.keychain }

    init() throws {
        storeUnderTest = try StoreUnderTest(seed: 1)
        for number in 0..<100 { try storeUnderTest.add("item \(number)", count: 5000) }
        try storeUnderTest.reopen()
        iterator = results.stream.makeAsyncIterator()
    }

    func failReads(first: Int, count: Int, _ error: (code: Int32, errno: Int32)) {
        disk.fail(
            FaultDisk.Plan(kinds: fault_read.rawValue, first: first, count: count, code: error.code, error: error.errno)
        )
    }

    /// The result of the next verification by the worker.
    func result() async -> IntegrityState? {
        if !isStarted { start() }
        return await iterator.next()
    }

    private func start() {
        isStarted = true
        let (keychain, results) = (keychain, results.continuation)
        keychain.expectVerification()
        Thread.detachNewThread {
            keychain.verifyInBackground(
                failed: { _ in results.yield(keychain.integrity) }, report: { _ in results.yield(keychain.integrity) })
        }
    }

    func add(_ name: String) throws { try storeUnderTest.add(name, count: 10) }

    func close() { storeUnderTest.crashKeychain.close() }
}
