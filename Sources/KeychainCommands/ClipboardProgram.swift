import Foundation
import Glibc
import KeychainMount
import LinuxSupport
import SystemPackage

/// A program that holds the clipboard: wl-copy(1), xclip(1), xsel(1).
enum ClipboardProgram: Sendable {
    case wlCopy(path: String, isSensitive: Bool)
    case xclip(path: String)
    case xsel(path: String)

    /// The directory of the file in which wl-copy keeps the text. Only its user may read it.
    private static let wlCopyDirectory = "/tmp"

    var name: String {
        switch self {
        case .wlCopy: "wl-copy"
        case .xclip: "xclip"
        case .xsel: "xsel"
        }
    }

    /// Returns the first of the programs that is installed and has a display.
    ///
    /// - Throws: `failure`.
    static func installed() throws(CLIError) -> ClipboardProgram {
        let (hasWayland, hasX) = (isSet("WAYLAND_DISPLAY"), isSet("DISPLAY"))
        let wlCopy = hasWayland ? ChildProcess.find("wl-copy") : nil
        if let wlCopy, FileSystemType.isInMemory(wlCopyDirectory) {
            return .wlCopy(path: wlCopy, isSensitive: hasSensitiveOption(wlCopy))
        }
        if hasX, let path = ChildProcess.find("xclip") { return .xclip(path: path) }
        if hasX, let path = ChildProcess.find("xsel") { return .xsel(path: path) }
        guard wlCopy == nil else {
            throw CLIError(
                .failure,
                """
                wl-copy would write the secret to a file in /tmp, which is on a disk here. Mount a tmpfs there, or install xclip or xsel, \
                which need DISPLAY (Xwayland).
                """)
        }
        guard hasWayland || hasX else {
            throw CLIError(.failure, "There is no desktop: neither WAYLAND_DISPLAY nor DISPLAY is set.")
        }
        throw CLIError(
            .failure,
            "No program for the clipboard is installed. Install the package \(hasWayland ? "wl-clipboard, " : "")xclip or xsel."
        )
    }

    private static func isSet(_ variable: String) -> Bool {
        ProcessInfo.processInfo.environment[variable]?.isEmpty == false
    }

    /// Whether this version can ask clipboard managers not to keep a copy.
    private static func hasSensitiveOption(_ program: String) -> Bool {
        guard let help = try? AnonymousFile(label: "help"),
            let child = try? ChildProcess(
                .init(executable: program, arguments: ["--help"], descriptors: [1: help.descriptor.rawValue]))
        else { return false }
        child.terminate(afterMilliseconds: 1000)
        return String(decoding: help.contents(limit: 16_384), as: UTF8.self).contains("--sensitive")
    }

    /// The start of the program with the text on standard input.
    var configuration: ChildProcess.Configuration {
        let (path, arguments) =
            switch self {
            case .wlCopy(let path, let isSensitive):
                (path, ["--foreground", "--type", "text/plain"] + (isSensitive ? ["--sensitive"] : []))
            case .xclip(let path): (path, ["-quiet", "-selection", "clipboard", "-in"])
            case .xsel(let path): (path, ["--nodetach", "--clipboard", "--input"])
            }
        // Newer versions of wl-copy use TMPDIR.
        return .init(
            executable: path, arguments: arguments, environment: ["TMPDIR=\(Self.wlCopyDirectory)"],
            descriptors: [0: STDIN_FILENO, 2: STDERR_FILENO])
    }

    /// Ends the program, and with it the contents of the clipboard.
    func end(_ child: ChildProcess) {
        if case .wlCopy(let path, _) = self,
            let clear = try? ChildProcess(.init(executable: path, arguments: ["--clear"]))
        {
            // Only then wl-copy removes its file.
            clear.terminate(afterMilliseconds: 1000)
            if child.wait(until: ContinuousClock.now + .seconds(1)) != nil { return }
        }
        child.requestEnd()
        child.terminate(afterMilliseconds: 1000)
    }
}
