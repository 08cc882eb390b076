import Foundation
import Fuse
import Keychain
import KeychainConnection
import SecretCrypto
import Synchronization
import SystemPackage

/// `keychainfs rekey`: starts a rekey in a daemon, or joins a running one, and shows its progress.
package struct RekeyProgressMonitor {
    /// The interval between two queries in seconds.
    private static let interval: TimeInterval = 0.2
    private let mountPoint: String
    private let client: MountClient

    package init(mountPoint: String, owner: MountOwner) {
        self.mountPoint = mountPoint
        client = MountClient(mountPoint: mountPoint, owner: owner)
    }

    /// Returns the status when the rekey is finished.
    ///
    /// A signal only ends this process, which reports that and exits.
    ///
    /// - Parameters:
    ///   - confirm: Returns whether rows may be resealed that differ from the committed ones.
    ///   - isTerminal: Whether the progress is redrawn in one line.
    ///   - draw: Called with the text to be written to standard error.
    package func run(
        unlocking: UnlockSource, confirm: () -> Bool, isTerminal: Bool, draw: @escaping @Sendable (String) -> Void,
        showMessage: @escaping @Sendable (String) -> Void
    ) throws(CLIError) -> StatusReport {
        try start(unlocking, confirm, showMessage)
        try handleSignals({ if isTerminal { draw("\n") } }, showMessage)
        var display = RekeyProgressBar(isTerminal: isTerminal, draw: draw)
        while true {
            let status = try client.status()
            display.show(status.rekey)
            guard status.rekey.isRunning else {
                display.end()
                try checkEnd(status.rekey)
                return status
            }
            Thread.sleep(forTimeInterval: Self.interval)
        }
    }

    private func start(
        _ unlocking: UnlockSource, _ confirm: () -> Bool, _ showMessage: (String) -> Void
    ) throws(CLIError) {
        let status = try client.status()
        if status.rekey.isUnderWay { return showMessage("a rekey is already in progress; its progress follows.") }
        if status.readOnly {
            throw CLIError(.readOnly, "\(mountPoint) is mounted for reading only. Mount it without '-o ro'.")
        }
        guard status.state == LockState.unlocked.text else {
            throw CLIError(.locked, "The keychain at \(mountPoint) is locked. Unlock it with 'keychainfs unlock'.")
        }
        try client.reportCost(of: unlocking.kind, showMessage: showMessage)
        let secret = try unlocking.read(for: "the keychain at \(mountPoint)", showMessage: showMessage)
        do throws(CLIError) {
            var result = try run(.start, secret)
            if !result.isStarted {
                guard confirm() else {
                    throw CLIError(.damaged, "Rows or indexes differ from the committed ones. Nothing was changed.")
                }
                result = try run(.startAnyway, secret)
            }
            let lost = result.lostSlots.map(String.init).joined(separator: ", ")
            if !lost.isEmpty { showMessage("warning: damaged or forged slots were removed: \(lost).") }
        } catch  where error.exitCode == .wrongPassphrase {
            throw CLIError(
                .wrongPassphrase,
                "\(secret.kind.subject) does not open the keychain at \(mountPoint). \(secret.kind.advice)")
        }
    }

    private func run(
        _ request: RekeyRequest, _ secret: borrowing UnlockSecret
    ) throws(CLIError) -> RekeyStartResult {
        let answer = try client.run(request.rawValue, secret: try Self.frame(secret))
        guard let result = try? RekeyStartResult(json: answer) else {
            throw CLIError(.failure, "The daemon of \(mountPoint) gave an answer that is not understood.")
        }
        return result
    }

    private static func frame(_ secret: borrowing UnlockSecret) throws(CLIError) -> SecretBytes {
        do throws(CryptoError) {
            let frames = try UnlockFrames(secret)
            return try frames.bytes.copy()
        } catch {
            throw CLIError(.failure, "There is no locked memory left for the passphrase.")
        }
    }

    private func handleSignals(
        _ endLine: @escaping @Sendable () -> Void, _ showMessage: @escaping @Sendable (String) -> Void
    ) throws(CLIError) {
        TerminationSignals.block()
        do throws(Errno) {
            try TerminationSignals.onReceive { _ in
                endLine()
                showMessage("the rekey continues in the background; 'keychainfs status' shows its progress.")
                exit(ExitCode.interrupted.rawValue)
            }
        } catch {
            throw CLIError(.failure, "No thread can be started: \(error). The rekey continues in the background.")
        }
    }

    private func checkEnd(_ rekey: StatusReport.RekeyStatus) throws(CLIError) {
        guard rekey.state == "waiting" else { return }
        switch rekey.reason {
        case "unlock":
            throw CLIError(
                .locked,
                "The keychain at \(mountPoint) was locked. The rekey continues after the next 'keychainfs unlock'.")
        case StatusReport.RekeyStatus.rowsDiffer:
            throw CLIError(
                .damaged,
                """
                The rekey has stopped, because rows or indexes differ from the committed ones: another program has changed the keychain \
                of \(mountPoint). 'keychainfs check' lists them; 'keychainfs rekey' asks, and continues it.
                """)
        case "disk-full":
            throw CLIError(
                .diskFull,
                "The disk with the keychain of \(mountPoint) is full. Free some space: the rekey then continues automatically."
            )
        case "read-only":
            throw CLIError(
                .readOnly,
                "\(mountPoint) is mounted read-only. The rekey continues when it is mounted without '-o ro'.")
        default:
            throw CLIError(
                .failure, "The rekey has stopped: the log of the daemon says why. It tries again every half minute.")
        }
    }
}

/// The progress of a rekey on standard error: a bar on a terminal, otherwise one line per interval.
struct RekeyProgressBar {
    private static let width = 30
    /// The interval between two lines in seconds.
    private static let pause: TimeInterval = 10
    private let isTerminal: Bool
    private let draw: (String) -> Void
    private var lastLine: Date?

    init(isTerminal: Bool, draw: @escaping (String) -> Void) {
        self.isTerminal = isTerminal
        self.draw = draw
    }

    mutating func show(_ rekey: StatusReport.RekeyStatus, now: Date = Date()) {
        if isTerminal { return draw("\r" + Self.bar(rekey)) }
        if let lastLine, now.timeIntervalSince(lastLine) < Self.pause { return }
        lastLine = now
        draw("keychainfs: rekey: \(rekey.done) of \(Counted.items(rekey.total))\n")
    }

    /// Ends the line of the bar.
    func end() { if isTerminal { draw("\n") } }

    /// `[##########....................]  33 %  165 of 500 items`
    static func bar(_ rekey: StatusReport.RekeyStatus) -> String {
        let done = min(rekey.done, rekey.total)
        let (filled, percent) = rekey.total > 0 ? (width * done / rekey.total, 100 * done / rekey.total) : (width, 100)
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        let number = String(repeating: " ", count: max(0, 3 - "\(percent)".count)) + "\(percent)"
        return "[\(bar)] \(number) %  \(rekey.done) of \(Counted.items(rekey.total))"
    }
}
