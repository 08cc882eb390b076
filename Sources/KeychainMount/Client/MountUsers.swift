import Foundation

/// The processes that keep a mount from being unmounted: they have a file or a directory of it open or mapped, or work in one.
///
/// Only those that /proc shows to the caller (proc(5)): root sees all, others see their own.
struct MountUsers {
    private struct User {
        let process: Int32
        /// What the kernel calls its program.
        let name: String
    }

    /// So many are told by name.
    private static let shown = 5

    private let users: [User]

    init(of mountPoint: String) {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        users = processes.compactMap { Int32($0) }.sorted().compactMap { process in
            guard process != getpid(), Self.uses(mountPoint, process) else { return nil }
            return User(process: process, name: Self.name(of: process))
        }
    }

    /// As a part of a sentence; nil if none is seen.
    var text: String? {
        guard !users.isEmpty else { return nil }
        let names = users.prefix(Self.shown).map { "\($0.name) (process \($0.process))" }.joined(separator: ", ")
        return users.count > Self.shown ? "\(names) and \(users.count - Self.shown) more" : names
    }

    /// A program may call itself anything: what a terminal would act on is not shown.
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
        // A mapped file outlives its descriptor.
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
