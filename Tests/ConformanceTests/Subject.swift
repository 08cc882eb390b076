import FileSystemCore
import FileSystemTesting
import SystemPackage

/// What a name can stand for when an operation comes to it.
enum Subject: String, CaseIterable, Sendable {
    case missing, empty, file
    /// A service, where directories can be made: `directory` has nothing in it.
    case directory, fullDirectory

    var isDirectory: Bool { self == .directory || self == .fullDirectory }
    var isFile: Bool { self == .empty || self == .file }

    /// Its path, made anew. Names differ from case to case: a process that takes a name again goes on with its item (F5).
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
    /// Takes away what a case has left, whatever it is.
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
