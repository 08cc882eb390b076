import DeviceState
import FileSystemCore
import Foundation
import Fuse
import Keychain
import KeychainStorage
import KeychainTree
import LinuxSupport
import Logging
import SecretCrypto
import Synchronization
import SystemPackage

/// The process that serves one mount.
struct MountDaemon {
    private let operation: MountOperation
    private let log = Logger(label: "keychainfs")
    private let signals: EndingSignals
    /// The limit that the kernel applies to a mount that is created now.
    private let requestTimeout = RequestTimeout()

    private let showMessage: @Sendable (String) -> Void

    /// - Parameter showMessage: Called with warnings for the user who mounts.
    init(_ operation: MountOperation, showMessage: @escaping @Sendable (String) -> Void) {
        self.operation = operation
        self.showMessage = showMessage
        signals = EndingSignals(log: log)
    }

    /// Mounts, calls `ready`, serves until the mount has ended, and leaves nothing behind. Ends immediately if `ready`
    /// returns false, after ^C during the mount.
    ///
    /// The order matters: no key exists before the process is hardened and has a watchdog; the mount follows after the
    /// keychain is open. Without a secret, the keychain is opened with the device key only, and waits for its first
    /// unlock.
    func serve(with secret: consuming UnlockSecret?, ready: () -> Bool) throws(CLIError) {
        startSignals()
        reportHardening(ProcessHardening.apply())
        let place = try openPlace()
        let watch = try startGuard()
        do throws(CLIError) {
            let opened = try openKeychain(secret)
            defer { opened.keychain.close() }
            reportDevice(opened)
            try serve(opened, at: place, guardedBy: watch, ready: ready)
            compact(opened)
        } catch {
            watch.stop()
            throw error
        }
        watch.stop()
    }

    private func serve(
        _ opened: OpenedKeychain, at place: borrowing MountDirectory, guardedBy watch: borrowing MountWatchdog,
        ready: () -> Bool
    ) throws(CLIError) {
        let keychain = opened.keychain
        let snapshots = SnapshotWriter(opened, path: operation.file.path)
        snapshots.removeLeftovers()
        defer { snapshots.removeLeftovers() }
        let served = ServedSession()
        let locks = AutomaticLockController(operation.options.lockPolicy, log: log)
        let memory = try startMemoryTrim()
        defer { memory.cancel() }
        let host = SystemTreeHost(directory: FilePath(operation.file.path).removingLastComponent().string) {
            memory.runSoon()
        }
        let tree = makeTree(keychain, host, snapshots, served, locks)
        try startWorkers(keychain, tree, host, served)
        let numbers = try keepNumbers(keychain)
        defer { numbers.cancel() }
        do throws(FuseError) {
            let session = try Session(tree, options: sessionOptions)
            served.session = session
            defer { served.session = nil }
            let ending = MountEnding(tree, session)
            try signals.mount(ending) { () throws(FuseError) in try mount(session, at: place) }
            renouncePrivileges(session, watch)
            defer { try? place.seal() }
            let observer = try watchMount(session, ending)
            defer { observer.stop() }
            try startLocks(locks, tree, session)
            defer { locks.end() }
            log.info("mounted", metadata: ["read-only": "\(operation.options.isReadOnly)"])
            if !ready() {
                log.notice("no process waits for the mount any more")
                try? session.unmount(lazily: true)
            }
            // The code that has finished, including the key derivation, will not run again soon.
            ProcessMemory.trimHeap()
            // The stack of this thread, which now waits, has contained the passphrase and keys.
            ProcessMemory.wipeStack()
            try close(session.run(), keychain, tree, ending)
            log.info("unmounted")
        } catch {
            throw CLIError(error, mountPoint: operation.mountPoint)
        }
    }

    /// Limits the time until the end of the process, from the end of the session on. If the session's threads wait for a disk, the
    /// process ends here.
    private func close(
        _ end: SessionEnd, _ keychain: KeychainStore, _ tree: KeychainFileSystem, _ ending: MountEnding
    ) {
        let limit = ClosingLimit(keychain.keys, log: log)
        limit.start(at: end)
        ending.finish()
        guard !end.isComplete else { return }
        tree.destroy()
        limit.endProcess()
    }

    // MARK: Parts

    /// Ends the mount when it is removed, regardless of how.
    private func watchMount(_ session: Session, _ ending: MountEnding) throws(FuseError) -> MountWatch {
        do throws(Errno) {
            guard let mount = session.mountEntry else { throw .noSuchFileOrDirectory }
            return try MountWatch(mount) { [log] in
                log.notice("the mount was removed: locking and ending")
                ending.begin()
            }
        } catch {
            // Unobserved, secrets might stay readable after an unmount.
            try? session.unmount(lazily: true)
            throw .system(error, call: "open of /proc/self/mountinfo")
        }
    }

    private func startSignals() {
        do throws(Errno) {
            try signals.start()
        } catch {
            log.warning("signals are not handled", metadata: ["errno": "\(error.rawValue)"])
        }
    }

    /// Starts the workers, each with a thread that exits when the keychain is closed.
    private func startWorkers(
        _ keychain: KeychainStore, _ tree: KeychainFileSystem, _ host: SystemTreeHost, _ served: ServedSession
    ) throws(CLIError) {
        do throws(Errno) {
            try IntegrityWorker(keychain: keychain, host: host, log: log) {
                served.session?.notifier.send(tree.forgetNames())
            }.start()
            try RewrapWorker(keychain: keychain, log: log).start()
            try RekeyWorker(keychain: keychain, host: host, log: log).start()
        } catch {
            throw CLIError(noThread: error)
        }
    }

    /// Saves the commit number once a minute, and after each lock, because a lock does not wait for the disk.
    private func keepNumbers(_ keychain: KeychainStore) throws(CLIError) -> PeriodicTimer {
        do throws(Errno) {
            let numbers = try PeriodicTimer(seconds: 60) {
                keychain.watchStore()
                try? keychain.keys.keepCommitNumber()
            }
            keychain.keys.watch { if $0 == .locked { numbers.runSoon() } }
            return numbers
        } catch {
            throw CLIError(noThread: error)
        }
    }

    /// Returns memory to the system apart from requests, because that takes milliseconds and causes page faults of
    /// code.
    private func startMemoryTrim() throws(CLIError) -> PeriodicTimer {
        do throws(Errno) {
            return try PeriodicTimer(seconds: nil, delay: 1) { ProcessMemory.trimHeap() }
        } catch {
            throw CLIError(noThread: error)
        }
    }

    private func openPlace() throws(CLIError) -> MountDirectory {
        do throws(MountPointError) {
            return try MountDirectory(at: operation.mountPoint)
        } catch {
            throw CLIError(error, mountPoint: operation.mountPoint)
        }
    }

    /// H3: makes the mount point writable for fusermount3, and read-only below the mount; restores it if mounting
    /// fails.
    private func mount(_ session: Session, at place: borrowing MountDirectory) throws(FuseError) {
        try? place.prepare()
        do throws(FuseError) {
            try session.mount(at: operation.mountPoint)
        } catch {
            try? place.restore()
            throw error
        }
        try? place.seal()
    }

    private func startGuard() throws(CLIError) -> MountWatchdog {
        do throws(FuseError) {
            return try MountWatchdog.start(arguments: [
                "guard", "--type", MountedKeychains.type, "--", operation.mountPoint,
            ])
        } catch {
            throw CLIError(.failure, "The watchdog of the mount cannot be started: \(error).")
        }
    }

    /// Delegates the unmount to the watchdog. Without the ID of the mount that is not possible, and fusermount3 needs
    /// privileges from the daemon.
    private func renouncePrivileges(_ session: Session, _ watch: borrowing MountWatchdog) {
        guard let mount = session.mountIdentifier else { return }
        watch.setMountID(mount: mount)
        session.delegateUnmount(to: watch)
        do throws(Errno) {
            try NewPrivileges.renounce()
        } catch {
            log.notice("the daemon can still gain privileges", metadata: ["errno": "\(error.rawValue)"])
        }
    }

    private func openKeychain(_ secret: consuming UnlockSecret?) throws(CLIError) -> OpenedKeychain {
        let opened = try operation.file.open(isReadOnly: operation.options.isReadOnly)
        if opened.keychain.keys.lacksWriterFeature {
            showMessage(
                "warning: a newer version of keychainfs has changed \(operation.file.path): this one can only read it.")
        }
        guard let secret else { return opened }
        do throws(CLIError) {
            try opened.keychain.keys.reportCost(
                of: secret.kind, keychain: operation.file.path, showMessage: showMessage)
            try opened.unlock(with: secret, acceptingRollback: operation.acceptsRollback, keychain: operation.file.path)
            if let warning = StatusReport.Device.warning(of: opened.keychain.keys) {
                showMessage("warning: \(warning).")
            }
            return opened
        } catch {
            opened.keychain.close()
            if error.exitCode == .rolledBack {
                log.critical("the keychain is refused: it may be an older or another copy")
            }
            throw error
        }
    }

    private func makeTree(
        _ keychain: KeychainStore, _ host: SystemTreeHost, _ snapshots: SnapshotWriter, _ served: ServedSession,
        _ locks: AutomaticLockController
    ) -> KeychainFileSystem {
        var options = TreeOptions(userID: getuid(), groupID: getgid())
        options.isReadOnly = operation.options.isReadOnly
        options.stagedLimit = operation.options.stagedLimit
        options.isShared = operation.options.access == .everyone
        options.commandLimit = requestTimeout.map { timeout in
            CommandLimit(
                longestWait: timeout.longestWait, threads: CommandRunner(notifier: { served.session?.notifier }))
        }
        let commands = ControlCommandLine(
            processID: getpid(), keychainPath: operation.file.path, mountPoint: operation.mountPoint,
            home: DefaultPaths().home,
            snapshots: snapshots, buffersLocked: { served.areBuffersLocked },
            mountID: { served.session?.mountIdentifier },
            automaticLock: { locks.status }, requestTimeout: requestTimeout)
        return KeychainFileSystem(
            keychain: keychain, options: options, host: host, commands: commands,
            requests: RPCRequestHandler(keychain, valueLimit: options.valueLimit, host: host))
    }

    /// A read-only mount refuses changes in the tree, not in the kernel, where writes to the control file would fail,
    /// too.
    private var sessionOptions: SessionOptions {
        var options = SessionOptions(
            source: operation.options.source ?? operation.file.path, subtype: MountOperation.subtype)
        options.allowsOtherUsers = operation.options.access == .everyone
        options.allowsRoot = operation.options.access == .root
        options.forbidsPrograms = operation.options.forbidsPrograms
        // On a single CPU, polling would take CPU time from the client that it waits for.
        if operation.options.neverSpins || HostInfo().processorShare <= 1 { options.pollMicroseconds = 0 }
        // A close waits for its commit, and all concurrent closes share one.
        options.workers = 48
        // A READ decrypts the value of its descriptor, and waits for memory at most. A WRITE stages, a CREATE looks up.
        // Longer operations announce that.
        options.receiverServesIO = true
        return options
    }

    /// Compacts the file if it has many free pages. Not after a signal, because the system may be shutting down.
    private func compact(_ opened: OpenedKeychain) {
        guard !signals.hasEnded else { return }
        do throws(StoreOpenError) {
            let bytes = try opened.close(compacting: .atUnmount)
            if bytes > 0 { log.info("compacted", metadata: ["bytes": "\(bytes)"]) }
        } catch {
            log.notice("the file was not compacted", metadata: ["error": "\(error)"])
        }
    }

    private func startLocks(
        _ locks: AutomaticLockController, _ tree: KeychainFileSystem, _ session: Session
    ) throws(FuseError) {
        do throws(Errno) {
            try locks.start(tree) { session.notifier.send(tree.lock()) }
        } catch {
            throw .system(error, call: "timerfd_create")
        }
    }

    /// L6: a lost device key is never replaced silently, and an accepted rollback is always reported.
    private func reportDevice(_ opened: OpenedKeychain) {
        let keys = opened.keychain.keys
        if keys.rollbackCheck == .accepted { log.warning("a keychain that may be an older copy was accepted") }
        guard !keys.isDeviceKnown else { return }
        let reason = opened.hadDeviceKey ? "it comes from another device" : "this device had no key, and has a new one"
        log.warning(
            "this device is new to the keychain: items bound to another device cannot be opened here",
            metadata: [
                "reason": "\(reason)", "items": "\((try? opened.keychain.foreignItemCount()) ?? 0)",
            ])
    }

    private func reportHardening(_ report: ProcessHardening.Report) {
        guard !report.isComplete else { return }
        log.warning(
            "the process is not fully protected",
            metadata: [
                "memory-locked": "\(report.memoryLocked)", "undumpable": "\(report.undumpable)",
                "core-dumps-disabled": "\(report.coreDumpsDisabled)",
                "crash-reports-off": "\(report.crashReportsOff)", "allocator-wipes": "\(report.allocatorWipes)",
            ])
    }
}

extension CLIError {
    fileprivate init(noThread error: Errno) {
        self.init(
            .failure,
            "The daemon cannot start a thread: \(error). Limits of this shell ('ulimit -a') can be the reason: -u, -v.")
    }
}

/// The session of the mount, for objects that are created before it; nil before the session starts and after it ends.
private final class ServedSession: Sendable {
    private let current = Mutex<Session?>(nil)

    var session: Session? {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    var areBuffersLocked: Bool { session?.buffersAreLocked ?? false }
}
