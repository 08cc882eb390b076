import Foundation
package import LinuxSupport

/// The user's settings (contract, E16).
package struct Configuration: Sendable {
    /// The names of the settings.
    package enum Name: String, CaseIterable, Sendable {
        case keychain
        case mountPoint = "mount-point"
        case lockAfter = "lock-after"
        case lockAtMost = "lock-at-most"
        case lockOn = "lock-on"
        case mountOptions = "mount-options"
        case clearAfter = "clear-after"
    }

    /// The reason why the file, or a line of it, is not used.
    package enum Problem: Hashable, Sendable {
        case file(SettingsFile.Problem)
        case unknownName(line: Int)
        case repeated(Name, line: Int)
        /// A relative path.
        case relativePath(Name, line: Int)
    }

    package let path: String
    package private(set) var problems: [Problem]
    private var settings: [Name: SettingsFile.Setting] = [:]

    /// The settings of this process, which are read once.
    package static let current = Configuration(environment: ProcessInfo.processInfo.environment)

    /// Reads the settings. A line that is not valid has no effect.
    package init(environment: [String: String]) {
        let directories = UserDirectories(environment: environment)
        let file = SettingsFile(directories)
        path = file.path
        problems = file.problems.map(Problem.file)
        for setting in file.settings { add(setting, home: directories.home) }
    }

    /// Returns the value; for a path, an absolute one. Names of keychains and unknown values are not verified.
    package subscript(name: Name) -> String? { settings[name]?.value }

    /// Returns the line that sets the value, from 1.
    package func line(of name: Name) -> Int? { settings[name]?.line }

    private mutating func add(_ setting: SettingsFile.Setting, home: String) {
        guard let name = Name(rawValue: setting.name) else { return problems.append(.unknownName(line: setting.line)) }
        guard settings[name] == nil else { return problems.append(.repeated(name, line: setting.line)) }
        let isPath = name == .mountPoint || (name == .keychain && setting.value.utf8.contains(UInt8(ascii: "/")))
        guard isPath else { return settings[name] = setting }
        guard let path = setting.path(home: home) else {
            return problems.append(.relativePath(name, line: setting.line))
        }
        settings[name] = SettingsFile.Setting(name: setting.name, value: path, line: setting.line)
    }
}
