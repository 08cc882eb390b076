import Foundation
import LinuxSupport

/// The access groups of a program (kSecAttrAccessGroup), which its entitlements list on other systems.
///
/// They come from `KEYCHAINFS_ACCESS_GROUPS`, separated by commas; otherwise from
/// `${XDG_CONFIG_HOME:-~/.config}/keychainfs/access-groups`, one per line, with comment lines that begin with `#`;
/// otherwise it is the group that the root of a mount shows.
package struct AccessGroups: Hashable, Sendable {
    /// The groups, never empty. New items belong to the first. `*` represents all groups.
    package let names: [String]

    /// The groups of this process, read once, as entitlements are.
    package static let ofThisProcess = AccessGroups(environment: ProcessInfo.processInfo.environment)

    /// The group that the root of a mount shows.
    package static let fallback = "default"
    private static let variable = "KEYCHAINFS_ACCESS_GROUPS"

    package init(environment: [String: String]) {
        let named = environment[Self.variable].map { Self.names($0.split(separator: ",")) } ?? []
        let groups = named.isEmpty ? Self.configured(environment) : named
        names = groups.isEmpty ? [Self.fallback] : groups
    }

    /// Creates the groups that a caller names; without any, the fallback.
    package init(_ names: [String]) {
        self.names = names.isEmpty ? [Self.fallback] : names
    }

    private static func configured(_ environment: [String: String]) -> [String] {
        let path = UserDirectories(environment: environment).configuration + "/keychainfs/access-groups"
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
        return names(text.split(whereSeparator: \.isNewline)).filter { !$0.hasPrefix("#") }
    }

    /// The names in order, without duplicates and surrounding blanks.
    private static func names(_ parts: [Substring]) -> [String] {
        var names: [String] = []
        for part in parts {
            let name = part.trimmingCharacters(in: .whitespaces)
            if !name.isEmpty, !names.contains(name) { names.append(name) }
        }
        return names
    }
}
