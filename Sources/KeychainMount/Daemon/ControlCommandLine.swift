import FileSystemCore
import Fuse
import Keychain
import KeychainTree
import SecretCrypto

/// The commands of `.keychainfs/control`, and the contents of `.keychainfs/status`.
struct ControlCommandLine: ControlCommandHandler {
    private let processID: Int32
    private let keychainPath: String
    private let mountPoint: String
    private let home: String
    private let buffersLocked: @Sendable () -> Bool
    private let snapshots: SnapshotWriter
    private let mountID: @Sendable () -> Int?
    private let automaticLock: @Sendable () -> AutomaticLockStatus
    private let requestTimeout: RequestTimeout?

    /// `buffersLocked`, `mountID` and `automaticLock` are called for each status.
    init(
        processID: Int32, keychainPath: String, mountPoint: String, home: String, snapshots: SnapshotWriter,
        buffersLocked: @escaping @Sendable () -> Bool, mountID: @escaping @Sendable () -> Int?,
        automaticLock: @escaping @Sendable () -> AutomaticLockStatus, requestTimeout: RequestTimeout? = nil
    ) {
        self.requestTimeout = requestTimeout
        self.home = home
        self.buffersLocked = buffersLocked
        self.mountID = mountID
        self.processID = processID
        self.keychainPath = keychainPath
        self.mountPoint = mountPoint
        self.snapshots = snapshots
        self.automaticLock = automaticLock
    }

    func status(of tree: KeychainFileSystem) -> [UInt8] {
        let items = (try? tree.keychain.itemCount()) ?? 0
        let automaticLock = automaticLock()
        return StatusReport(
            processID: processID, state: tree.keychain.keys.state, keychain: keychainPath, mountPoint: mountPoint,
            mountID: mountID(), isReadOnly: tree.isReadOnly, items: items,
            commits: tree.keychain.commitCount, integrity: tree.keychain.integrity,
            hardening: HardeningStatus(ProcessHardening.report(), buffersLocked: buffersLocked()),
            warnings: MountPointWarnings(mountPoint: mountPoint, home: home).unusual + Self.warnings(of: tree.keychain)
                + [automaticLock.warning].compactMap(\.self),
            device: StatusReport.Device(tree.keychain), automaticLock: automaticLock,
            rekey: StatusReport.RekeyStatus(tree.keychain.rekeyProgress),
            stagedMemory: StatusReport.StagedMemory(used: tree.stagedMemory.used, limit: tree.stagedMemory.limit),
            requestTimeout: requestTimeout?.seconds
        ).json
    }

    private static func warnings(of keychain: KeychainStore) -> [String] {
        var warnings: [String] = []
        if keychain.isOverwritten {
            warnings.append(
                """
                another copy of the keychain, possibly an older one, was written over its file: nothing can be changed any more; \
                unmount it, and the next mount says if the copy is older
                """)
        }
        if !keychain.isInPlace {
            warnings.append(
                """
                the keychain's file, or its log, has been moved, removed or replaced: nothing can be changed any more. Put it \
                back, or copy the keychain with 'keychainfs backup FILE' before you unmount it
                """)
        }
        if let warning = StatusReport.Device.warning(of: keychain.keys) { warnings.append(warning) }
        if keychain.keys.stateFault != nil {
            warnings.append(
                "the commit number cannot be saved next to the device key: an older copy of the keychain would not be detected"
            )
        }
        return warnings
    }

    func run(
        _ command: RawSpan, on tree: KeychainFileSystem, request: inout Request
    ) throws(KeychainFault) -> [UInt8] {
        let (verb, end) = Self.firstLine(of: command)
        switch verb {
        case "lock":
            request.notificationsBeforeReply += tree.lock()
            return Array("locked\n".utf8)
        case RekeyRequest.start.rawValue, RekeyRequest.startAnyway.rawValue:
            var offset = end
            let secret = try UnlockFrames.read(command, at: &offset)
            let keychain = tree.keychain
            let start = try keychain.startRekey(
                acceptingDifferences: verb == RekeyRequest.startAnyway.rawValue
            ) { () throws(KeychainFault) in try keychain.keys.userKey(with: secret) }
            return RekeyStartResult(start).json
        case "check":
            return CheckResult(try tree.keychain.check()).json
        case "backup":
            return try snapshots.make().json
        case SlotRequest.list:
            let keys = tree.keychain.keys
            return SlotListResult(try keys.slots(), keptCost: keys.keptCost()).json
        default:
            if let slots = SlotRequest(line: verb) {
                let change = try slots.run(command.extracting(end..<command.byteCount), on: tree.keychain)
                if slots.mayDeleteItems { request.notificationsBeforeReply += tree.forgetUnavailable() }
                return SlotChangeResult(change, stateFault: tree.keychain.keys.stateFault).json
            }
            guard let unlock = UnlockRequest(line: verb) else { throw .param }
            let secret = try UnlockSecret(kind: unlock.kind, bytes: Self.secret(command, from: end))
            try tree.unlock(with: secret, acceptingRollback: unlock.acceptsRollback)
            return Array("unlocked\n".utf8)
        }
    }

    /// Returns the command, and the start of its secret input. No command is longer than a few words.
    private static func firstLine(of command: RawSpan) -> (verb: String, end: Int) {
        var verb: [UInt8] = []
        for offset in 0..<min(command.byteCount, 256) {
            let byte = command.octets[offset]
            if byte == UInt8(ascii: "\n") { return (String(decoding: verb, as: UTF8.self), offset + 1) }
            verb.append(byte)
        }
        return (String(decoding: verb, as: UTF8.self), command.byteCount)
    }

    private static func secret(_ command: RawSpan, from start: Int) throws(KeychainFault) -> SecretBytes {
        guard start < command.byteCount else { throw .param }
        do throws(CryptoError) {
            return try SecretBytes(copying: command.extracting(start..<command.byteCount))
        } catch {
            throw KeychainFault(error)
        }
    }
}
