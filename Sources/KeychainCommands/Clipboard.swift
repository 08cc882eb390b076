import Foundation
import Glibc
package import KeychainMount
import LinuxSupport
package import SecretCrypto
import SystemPackage

/// The clipboard of the desktop. A program of its packages holds the text, gives it to the programs that ask for it, and ends when
/// another program copies something (contract, E3).
package struct Clipboard: Sendable {
    private let program: ClipboardProgram

    /// - Throws: `failure` if no program for it is installed, or there is no desktop.
    package init() throws(CLIError) { program = try ClipboardProgram.installed() }

    /// Starts the process that holds the clipboard (``hold(for:)``), and gives it the secret through a pipe.
    ///
    /// - Parameters:
    ///   - command: The arguments of this program for that process.
    /// - Throws: `failure` if the process ends with an error within a second: no display responds, for example.
    package func copy(_ secret: borrowing SecretBytes, holder command: [String]) throws(CLIError) {
        do {
            let messages = try AnonymousFile(label: "messages")
            let pipe = try FileDescriptor.pipe()
            let child = try ChildProcess(
                .init(
                    executable: ChildProcess.ownProgram, arguments: command,
                    descriptors: [0: pipe.readEnd.rawValue, 2: messages.descriptor.rawValue], hasOwnSession: true))
            try pipe.readEnd.close()
            // A program that ends before it has read everything is an error of the write.
            signal(SIGPIPE, SIG_IGN)
            let isWritten = (try? secret.write(to: pipe.writeEnd.rawValue)) != nil
            try pipe.writeEnd.close()
            let status = child.wait(until: ContinuousClock.now + .seconds(1)) ?? 0
            guard status != 0 || !isWritten else { return }
            throw failure(String(decoding: messages.contents(limit: 1024), as: UTF8.self))
        } catch let error as CLIError {
            throw error
        } catch {
            throw CLIError(.failure, "The clipboard cannot be set: \(error).")
        }
    }

    private func failure(_ message: String) -> CLIError {
        let text = message.split(separator: "\n").map { Printable.text(String($0)) }.joined(separator: "; ")
        return CLIError(.failure, "\(program.name) cannot set the clipboard\(text.isEmpty ? "" : ": " + text).")
    }

    /// Runs the program with standard input as the text of the clipboard, until another program copies something or the time is
    /// over: then the clipboard is empty.
    ///
    /// - Parameter duration: Nil for no limit. Includes the time of a suspended system.
    /// - Returns: The exit status of the program; 0 if it was ended.
    package func hold(for duration: Duration?) throws(CLIError) -> Int32 {
        // A working directory in a mount would prevent its end.
        _ = FileManager.default.changeCurrentDirectoryPath("/")
        do throws(Errno) {
            let deadline = duration.map { ContinuousClock.now + $0 }
            let child = try ChildProcess(program.configuration)
            // Otherwise the writer would not notice that the program has ended.
            close(STDIN_FILENO)
            guard let deadline else { return child.wait() }
            if let status = child.wait(until: deadline) { return status }
            program.end(child)
            return 0
        } catch {
            throw CLIError(.failure, "\(program.name) cannot be started: \(error).")
        }
    }
}
