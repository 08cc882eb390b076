import DeviceState
import Foundation

/// Every setting with its value and source, for `config`.
package struct SettingsReport: JSONText, Sendable {
    struct Setting: Codable, Sendable {
        /// The value; nil if nothing sets it and it has no default value.
        let value: String?
        /// `default`, `environment` or `file`.
        let source: String
        /// The line of the file, from 1.
        let line: Int?
    }

    /// The path of the file, which need not exist.
    let file: String
    /// By name.
    let settings: [String: Setting]

    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let configuration = Configuration(environment: environment)
        let locations = DefaultPaths(environment: environment)
        let defaults: [Configuration.Name: String] = [
            .keychain: KeychainPath(named: nil, locations: locations).path,
            .mountPoint: locations.defaultMountPoint, .clearAfter: ClearingTime.standard,
        ]
        file = configuration.path
        var settings: [String: Setting] = [:]
        for name in Configuration.Name.allCases {
            let line = configuration.line(of: name)
            settings[name.rawValue] = Setting(
                value: configuration[name] ?? defaults[name], source: line == nil ? "default" : "file", line: line)
        }
        if locations.mountPoint != locations.defaultMountPoint {
            settings[Configuration.Name.mountPoint.rawValue] = Setting(
                value: locations.mountPoint, source: "environment", line: nil)
        }
        self.settings = settings
    }

    /// A line for each setting, in the order of the documentation; `-` for no value.
    package var text: String {
        let rows = Configuration.Name.allCases.compactMap { name in
            settings[name.rawValue].map { (name.rawValue, Printable.text($0.value ?? "-"), source($0)) }
        }
        let widths = (rows.map(\.0.count).max() ?? 0, rows.map(\.1.count).max() ?? 0)
        return rows.map { name, value, source in
            let columns = [
                name.padding(toLength: widths.0, withPad: " ", startingAt: 0),
                value.padding(toLength: widths.1, withPad: " ", startingAt: 0), source,
            ]
            return columns.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    private func source(_ setting: Setting) -> String {
        switch setting.source {
        case "file": "\(Printable.text(file)), line \(setting.line ?? 0)"
        case "environment": "KEYCHAINFS_MOUNT"
        default: "default"
        }
    }
}
