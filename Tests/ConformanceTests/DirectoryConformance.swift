import FileSystemCore
import FileSystemTesting
import SystemPackage
import Testing

/// readdir(3): each entry is listed exactly once, regardless of the number of names and the buffer boundaries.
@Suite struct DirectoryConformance {
    @Test("T6: listings of every length about the sizes of buffers", arguments: BackEnd.available)
    func lengths(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            var names: [String] = []
            for length in [0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 130, 257] {
                while names.count < length {
                    let name = String(repeating: "x", count: names.count % 7 * 30) + "\(names.count)"
                    try client.put(Fixture.directory + "/" + name, "x")
                    names.append(name)
                }
                let read = try client.readDirectory(Fixture.directory)
                #expect(read.names == names && read.error == nil, "\(length) names")
                #expect(Set(read.types.values) == (length == 0 ? [] : [.regular]))
            }
        }
    }

    @Test("T6: the remaining entries after each removal, first to last and last to first", arguments: BackEnd.available)
    func removals(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            var names = (0..<40).map { "n\($0)" }
            for name in names { try client.put(Fixture.directory + "/" + name, "x") }
            while !names.isEmpty {
                let name = names.count % 2 == 0 ? names.removeFirst() : names.removeLast()
                try client.unlink(Fixture.directory + "/" + name)
                #expect(try client.list(Fixture.directory) == names)
            }
            try client.rmdir(Fixture.directory)
        }
    }
}
