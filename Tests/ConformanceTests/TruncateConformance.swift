import FileSystemCore
import FileSystemTesting
import SystemPackage
import Testing

/// ftruncate(2) up and down on one descriptor, truncate(2), and writes beyond the end: truncated data never reappears.
@Suite struct TruncateConformance {
    private static let sizes = [0, 3, 4096, 5000, 70_000]

    /// All orders of four of the sizes.
    private static let orders: [[Int]] = sizes.flatMap { a in
        sizes.flatMap { b in
            sizes.flatMap { c in sizes.map { d in [a, b, c, d] } }
        }
    }.filter { Set($0).count == 4 }

    @Test("F1, F3: one descriptor, shorter and longer in every order", arguments: BackEnd.available)
    func orders(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            let path = Fixture.directory + "/a"
            for order in Self.orders {
                var model = [UInt8](repeating: 0x61, count: 5000)
                try client.put(path, model)
                let file = try client.open(path, .readWrite)
                for size in order {
                    try client.ftruncate(file, UInt64(size))
                    model = Self.resized(model, to: size)
                    try Self.write([0x21], at: size + 2, client, file, &model)
                    try Self.write([0x2A, 0x2A], at: size / 2, client, file, &model)
                    #expect(try client.fstat(file).size == UInt64(model.count))
                    #expect(try client.pread(file, 100_000, at: 0) == model, "\(order) at \(size)")
                }
                try client.close(file)
                #expect(try client.contents(path) == model, "\(order)")
            }
        }
    }

    @Test("F1, F3: truncate(2) and another descriptor's ftruncate(2) in between", arguments: BackEnd.available)
    func several(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            let path = Fixture.directory + "/b"
            var model = [UInt8](repeating: 0x61, count: 5000)
            try client.put(path, model)
            let files = try (0..<2).map { _ in try client.open(path, .readWrite) }
            for (turn, size) in [10, 9000, 0, 4097, 4096, 1].enumerated() {
                try Self.write([0x62], at: model.count + 3, client, files[turn % 2], &model)
                if turn % 3 == 2 {
                    try client.truncate(path, UInt64(size))
                } else {
                    try client.ftruncate(files[(turn + 1) % 2], UInt64(size))
                }
                model = Self.resized(model, to: size)
                for file in files { #expect(try client.pread(file, 20_000, at: 0) == model, "turn \(turn)") }
            }
            for file in files { try client.close(file) }
            #expect(try client.contents(path) == model)
        }
    }

    private static func resized(_ bytes: [UInt8], to size: Int) -> [UInt8] {
        bytes.prefix(size) + [UInt8](repeating: 0, count: max(0, size - bytes.count))
    }

    private static func write(
        _ bytes: [UInt8], at offset: Int, _ client: any FileClient, _ file: Int, _ model: inout [UInt8]
    ) throws {
        try client.pwrite(file, bytes, at: UInt64(offset))
        model = resized(model, to: max(model.count, offset + bytes.count))
        model.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }
}
