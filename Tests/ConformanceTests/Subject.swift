import FileSystemCore
import FileSystemTesting
import SystemPackage

/// The state of a name before an operation.
enum Subject: String, CaseIterable, Sendable {
    case missing, empty, file
    /// A service, where directories can be created: `directory` is empty.
    case directory, fullDirectory

    var isDirectory: Bool { self == .directory || self == .fullDirectory }
    var isFile: Bool { self == .empty || self == .file }

    /// Creates the subject and returns its path. Names differ from case to case: a process that takes a freed name
    /// again continues its item (F5).
    func prepare(_ client: any FileClient, _ name: String) throws -> String {
        let path = (isDirectory ? "/generic-passwords/" : Fixture.directory + "/") + name
        switch self {
        case .missing: break
        case .empty: try client.put(path, "")
        case .file: try client.put(path, "0123456789")
        case .directory: try client.mkdir(path)
        case .fullDirectory:
            try client.mkdir(path)
            try client.put(path + "/inside", "x")
        }
        return path
    }
}

extension FileClient {
    /// Removes the file or directory that a case has left.
    func clear(_ path: String) {
        guard let type = try? stat(path).type else { return }
        guard type == .directory else {
            try? unlink(path)
            return
        }
        for name in (try? list(path)) ?? [] { try? unlink(path + "/" + name) }
        try? rmdir(path)
    }
}
