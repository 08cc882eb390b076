package import DeviceState
import Foundation
import LinuxSupport

/// The user's settings as commands use them (contract, E16): with values that have been verified.
package struct Settings: Sendable {
    /// The settings of this process.
    package static let current = Settings(.current)

    private let configuration: Configuration

    package init(_ configuration: Configuration) { self.configuration = configuration }

    package var path: String { configuration.path }

    /// Fails if the file has a mistake, before anything is done: it could set something that the user expects to be safe.
    ///
    /// - Throws: `usage`; `noPassphrase` if other users may write the file.
    package func require() throws(CLIError) {
        if let problem = problems.first { throw problem }
    }

    /// The mistakes of the file. The lines that have none are used.
    package var problems: [CLIError] {
        configuration.problems.map(error) + Configuration.Name.allCases.compactMap(problem)
    }

    /// The mount options of the settings.
    package var mountOptions: [String] {
        let locks: [Configuration.Name] = [.lockAfter, .lockAtMost, .lockOn]
        return [configuration[.mountOptions]].compactMap(\.self) + locks.compactMap(mountOption)
    }

    /// The time after which the clipboard is cleared.
    package var clearAfter: String? { configuration[.clearAfter] }

    /// Returns a setting as a mount option.
    private func mountOption(_ name: Configuration.Name) -> String? {
        configuration[name].map {
            "\(name.rawValue.replacing("-", with: "_"))=\($0.replacing("\\", with: "\\\\").replacing(",", with: "\\,"))"
        }
    }

    // MARK: - Mistakes

    /// Returns the mistake of a value.
    private func problem(_ name: Configuration.Name) -> CLIError? {
        guard let value = configuration[name] else { return nil }
        do throws(CLIError) {
            switch name {
            case .mountPoint: return nil
            case .keychain: return KeychainPath.isPathOrName(value) ? nil : error(name, "it is not a name or a path")
            case .clearAfter: _ = try ClearingTime(value)
            case .lockAfter, .lockAtMost, .lockOn: _ = try MountOptionList([mountOption(name)].compactMap(\.self))
            case .mountOptions: _ = try MountOptionList([value])
            }
            return nameRepetition(name)
        } catch {
            return self.error(name, error.message)
        }
    }

    /// A lock is set by its name or by a mount option, so that it is clear which one holds.
    private func nameRepetition(_ name: Configuration.Name) -> CLIError? {
        guard let option = mountOption(name), name != .mountOptions, name != .clearAfter,
            let options = configuration[.mountOptions],
            MountOptionList.sets(String(option.prefix { $0 != "=" }), in: options)
        else { return nil }
        return error(name, "mount-options sets it too")
    }

    private func error(_ name: Configuration.Name, _ text: String) -> CLIError {
        CLIError(
            .usage, "\(place(configuration.line(of: name))): \(name.rawValue): \(text)\(text.hasSuffix(".") ? "" : ".")"
        )
    }

    private func place(_ line: Int?) -> String { Printable.text(path) + (line.map { ", line \($0)" } ?? "") }

    private func error(_ problem: Configuration.Problem) -> CLIError {
        switch problem {
        case .file(let problem): error(problem)
        case .unknownName(let line):
            CLIError(
                .usage,
                "\(place(line)): the name is unknown. Names: \(Configuration.Name.allCases.map(\.rawValue).joined(separator: ", "))."
            )
        case .repeated(let name, let line): CLIError(.usage, "\(place(line)): \(name.rawValue) is set twice.")
        case .relativePath(let name, let line):
            CLIError(.usage, "\(place(line)): \(name.rawValue): a path begins with '/' or '~/'.")
        }
    }

    private func error(_ problem: SettingsFile.Problem) -> CLIError {
        switch problem {
        case .malformed(let line): CLIError(.usage, "\(place(line)) is not 'NAME = VALUE', empty, or a comment ('#').")
        case .notPrivate:
            CLIError(
                .noPassphrase,
                "\(place(nil)) can be changed by other users. It must be yours: 'chmod go-w \(ShellWord.quoted(path))'."
            )
        case .notRegularFile: CLIError(.usage, "\(place(nil)) is not a file.")
        case .tooLong: CLIError(.usage, "\(place(nil)) has more than 64 KiB.")
        case .notText: CLIError(.usage, "\(place(nil)) is not UTF-8.")
        case .unreadable(let error): CLIError(.usage, "\(place(nil)) cannot be read: \(error).")
        }
    }
}
