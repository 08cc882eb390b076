import Foundation

/// The processes that prevent an unmount: they have a file or a directory of the mount open or mapped, or as working
/// directory.
///
/// Contains only processes that /proc shows to the caller (proc(5)): all for root, otherwise the user's own.
struct MountUsers {
    private struct User {
        let process: Int32
        /// The name of the program in the kernel.
        let name: String
    }

    /// The maximum number of processes that are named.
    private static let shown = 5

    private let users: [User]

    init(of mountPoint: String) {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        users = processes.compactMap { Int32($0) }.sorted().compactMap { process in
            guard process != getpid(), Self.uses(mountPoint, process) else { return nil }
            return User(process: process, name: Self.name(of: process))
        }
    }

    /// A part of a sentence; nil if there is no visible process.
    var text: String? {
        guard !users.isEmpty else { return nil }
        let names = users.prefix(Self.shown).map { "\($0.name) (process \($0.process))" }.joined(separator: ", ")
        return users.count > Self.shown ? "\(names) and \(users.count - Self.shown) more" : names
    }

    /// Returns the name without control characters, because a program may choose any name.
    private static func name(of process: Int32) -> String {
        let name = (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)) ?? ""
        let shown = name.trimmingCharacters(in: .newlines).unicodeScalars.map { scalar in
            CharacterSet.controlCharacters.contains(scalar) ? "?" : String(scalar)
        }
        return shown.isEmpty ? "?" : shown.joined()
    }

    private static func uses(_ mountPoint: String, _ process: Int32) -> Bool {
        let folder = "/proc/\(process)"
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/fd")) ?? []
        let links = ["cwd", "root", "exe"] + descriptors.map { "fd/\($0)" }
        if links.contains(where: { isLocated(link("\(folder)/\($0)"), in: mountPoint) }) { return true }
        // A mapping remains after its descriptor has been closed.
        guard let maps = try? String(contentsOfFile: "\(folder)/maps", encoding: .utf8) else { return false }
        return maps.split(separator: "\n").contains { line in
            guard let slash = line.firstIndex(of: "/") else { return false }
            return isLocated(String(line[slash...]), in: mountPoint)
        }
    }

    private static func link(_ path: String) -> String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) ?? ""
    }

    private static func isLocated(_ path: String, in mountPoint: String) -> Bool {
        path == mountPoint || path.hasPrefix(mountPoint + "/")
    }
}
