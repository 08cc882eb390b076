import Foundation
import LinuxSupport

/// The processes that prevent an unmount: they have a file or a directory of the mount open or mapped, or as working
/// directory.
///
/// Contains only processes that /proc shows to the caller (proc(5)): all for root, otherwise the user's own. A process whose close is
/// in progress no longer has the file open. Accesses no file of the mount.
struct MountUsers {
    private struct User {
        let process: Int32
        /// The name of the program in the kernel.
        let name: String
    }

    /// The maximum number of processes that are named.
    private static let shown = 5

    private let mount: MountTable.Entry

    init(of mount: MountTable.Entry) { self.mount = mount }

    /// Returns their names as a part of a sentence; nil if there is no visible process.
    func text() -> String? {
        let users = current()
        guard !users.isEmpty else { return nil }
        let names = users.prefix(Self.shown).map { "\($0.name) (process \($0.process))" }.joined(separator: ", ")
        return users.count > Self.shown ? "\(names) and \(users.count - Self.shown) more" : names
    }

    private func current() -> [User] {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.compactMap { Int32($0) }.sorted().filter(isUsed).map { process in
            User(process: process, name: Self.name(of: process))
        }
    }

    /// Returns the name without control characters, because a program may choose any name.
    private static func name(of process: Int32) -> String {
        let name = Self.contents(of: "/proc/\(process)/comm")
        let shown = name.trimmingCharacters(in: .newlines).unicodeScalars.map { scalar in
            CharacterSet.controlCharacters.contains(scalar) ? "?" : String(scalar)
        }
        return shown.isEmpty ? "?" : shown.joined()
    }

    private func isUsed(by process: Int32) -> Bool {
        let folder = "/proc/\(process)"
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/fd")) ?? []
        let links = ["cwd", "root", "exe"] + descriptors.map { "fd/\($0)" }
        if links.contains(where: { isTarget(of: "\(folder)/\($0)") }) { return true }
        // A mapping remains after its descriptor has been closed.
        return Self.contents(of: "\(folder)/maps").split(separator: "\n").contains { isMapping($0) }
    }

    /// Returns a file in /proc, which may contain names that are not text; empty if it cannot be read.
    private static func contents(of path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }

    /// Whether a link in /proc refers to a file of the mount. The directory below the mount, which the daemon has open, and the
    /// mounts of other namespaces have the same path, but another ID.
    private func isTarget(of link: String) -> Bool {
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) ?? ""
        guard isPathInMount(path), let identity = MountIdentity(at: link) else { return false }
        // 0 before Linux 5.8, where the path decides.
        return identity.number == 0 || identity.number == mount.identifier
    }

    /// Whether a line of /proc/PID/maps (`7f00-7f10 r--p 0000 00:2e 17   /path`, the device in hexadecimal) is a mapping of a file of
    /// the mount.
    private func isMapping(_ line: Substring) -> Bool {
        guard let slash = line.firstIndex(of: "/"), isPathInMount(String(line[slash...])) else { return false }
        let device = line.split(separator: " ", maxSplits: 4).dropFirst(3).first?.split(separator: ":")
        return device?.compactMap { Int($0, radix: 16) }.map(String.init).joined(separator: ":") == mount.device
    }

    private func isPathInMount(_ path: String) -> Bool {
        mount.isMounted(at: path) || path.utf8.starts(with: (mount.path + "/").utf8)
    }
}
