import FileSystemCore
import FileSystemTesting
import Keychain
import SystemPackage
import Testing

@testable import KeychainTree

/// copy_file_range(2) within a mount, over all back ends.
@Suite struct CopyTests {
    private static let a = Fixture.directory + "/a"
    private static let b = Fixture.directory + "/b"
    private static let long = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 / 7) }

    @Test("H1, F1: copy_file_range copies a value, and the close commits it", arguments: BackEnd.available)
    func completeValue(_ backEnd: BackEnd) throws {
        try backEnd.run { client, fixture in
            try client.put(Self.a, Self.long)
            let source = try client.open(Self.a, [])
            let target = try client.open(Self.b, [.create, .writeOnly])
            var done = 0
            while done < Self.long.count {
                let count = try client.copyRange(
                    from: source, at: UInt64(done), to: target, at: UInt64(done), count: Self.long.count - done)
                #expect(count > 0)
                guard count > 0 else { break }
                done += count
            }
            #expect(try client.copyRange(from: source, at: UInt64(done), to: target, at: 0, count: 10) == 0)
            #expect(try client.fstat(target).size == UInt64(Self.long.count))
            // Committed by the close itself, not only by the last one, whose error no caller gets.
            let second = try client.duplicate(target)
            #expect(try fixture.commits { try client.close(target) } == 1)
            try client.close(second)
            try client.close(source)
            #expect(try client.contents(Self.b) == Self.long)
        }
    }

    @Test("F3: a copy has the value of the source's descriptor", arguments: BackEnd.available)
    func oldValue(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            try client.put(Self.a, "old value")
            let source = try client.open(Self.a, [])
            let writer = try client.open(Self.a, .readWrite)
            try client.pwrite(writer, Array("new value".utf8), at: 0)
            let target = try client.open(Self.b, [.create, .writeOnly])
            #expect(try client.copyRange(from: source, at: 0, to: target, at: 2, count: 3) == 3)
            try client.close(target)
            try client.close(source)
            try client.close(writer)
            #expect(try client.contents(Self.b) == [0, 0] + Array("old".utf8))
        }
    }

    @Test(
        "F3: a copy whose bytes are all copied ends without an error, even if the item has changed since",
        arguments: BackEnd.available)
    func changeBeforeTheEnd(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            try client.put(Self.a, "old value")
            let source = try client.open(Self.a, [])
            let target = try client.open(Self.b, [.create, .writeOnly])
            #expect(try client.copyRange(from: source, at: 0, to: target, at: 0, count: 99) == 9)
            let writer = try client.open(Self.a, [.writeOnly, .truncate])
            // While a shorter value is staged, and after a longer one was committed.
            try client.pwrite(writer, Array("new".utf8), at: 0)
            #expect(try client.copyRange(from: source, at: 9, to: target, at: 9, count: 99) == 0)
            try client.pwrite(writer, Array("new, and longer".utf8), at: 0)
            try client.close(writer)
            #expect(try client.copyRange(from: source, at: 9, to: target, at: 9, count: 99) == 0)
            for file in [source, target] { try client.close(file) }
            #expect(try client.text(Self.b) == "old value")
        }
    }

    @Test(
        "F3: no copy is truncated to the size of another value: EINVAL, and read(2) continues",
        arguments: BackEnd.available)
    func cutValue(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            let target = try client.open(Self.b, [.create, .writeOnly])
            func copied(from source: Int) -> Errno? {
                client.errno { c throws(Errno) in
                    _ = try c.copyRange(from: source, at: 0, to: target, at: 0, count: 9)
                }
            }
            try client.put(Self.a, "old value")
            let before = try client.open(Self.a, [])
            let writer = try client.open(Self.a, [.writeOnly, .truncate])
            try client.pwrite(writer, Array("new".utf8), at: 0)
            let during = try client.open(Self.a, [])
            #expect(copied(from: before) == .invalidArgument && copied(from: during) == .invalidArgument)
            try client.close(writer)
            let after = try client.open(Self.a, [])
            #expect(copied(from: before) == .invalidArgument && copied(from: during) == .invalidArgument)
            #expect(copied(from: after) == nil)
            #expect(try client.pread(before, 9, at: 0) == Array("old value".utf8))
            #expect(try client.pread(during, 9, at: 0) == Array("old value".utf8))
            for file in [before, during, after, target] { try client.close(file) }
            #expect(try client.text(Self.b) == "new")
        }
    }

    @Test("F2: no data of a copy is in the store before a commit", arguments: BackEnd.available)
    func staged(_ backEnd: BackEnd) throws {
        try backEnd.run { client, fixture in
            try client.put(Self.a, "source")
            try client.put(Self.b, "target")
            let source = try client.open(Self.a, [])
            let target = try client.open(Self.b, .readWrite)
            #expect(
                try fixture.commits { _ = try client.copyRange(from: source, at: 0, to: target, at: 0, count: 6) } == 0)
            #expect(try client.text(Self.b) == "target")
            #expect(try client.pread(target, 6, at: 0) == Array("source".utf8))
            try client.close(target)
            try client.close(source)
            #expect(try client.text(Self.b) == "source")
        }
    }

    @Test("H1: within one file, overlapping ranges are refused", arguments: BackEnd.available)
    func sameFile(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            try client.put(Self.a, "0123456789")
            let file = try client.open(Self.a, .readWrite)
            #expect(
                client.errno { c throws(Errno) in
                    _ = try c.copyRange(from: file, at: 0, to: file, at: 3, count: 4)
                } == .invalidArgument)
            #expect(try client.copyRange(from: file, at: 0, to: file, at: 6, count: 4) == 4)
            try client.close(file)
            #expect(try client.text(Self.a) == "0123450123")
        }
    }

    @Test("H1, F9: wrong descriptors and too much data are refused, and close reports it", arguments: BackEnd.available)
    func refusals(_ backEnd: BackEnd) throws {
        try backEnd.run { client, fixture in
            try client.put(Self.a, "source")
            try client.put(Self.b, "target")
            let reader = try client.open(Self.a, [])
            let writer = try client.open(Self.b, .writeOnly)
            let appender = try client.open(Self.b, [.writeOnly, .append])
            let attempts: [(from: Int, to: Int)] = [(writer, writer), (reader, reader), (reader, appender)]
            for attempt in attempts {
                let error = client.errno { c throws(Errno) in
                    _ = try c.copyRange(from: attempt.from, at: 0, to: attempt.to, at: 10, count: 2)
                }
                #expect(error == .badFileDescriptor)
            }
            try client.close(appender)
            let limit = UInt64(fixture.tree.options.valueLimit)
            let error = client.errno { c throws(Errno) in
                _ = try c.copyRange(from: reader, at: 0, to: writer, at: limit, count: 4)
            }
            #expect(error == .fileTooLarge)
            #expect(client.errno { c throws(Errno) in try c.close(writer) } == .fileTooLarge)
            try client.close(reader)
            #expect(try client.text(Self.b) == "target")
        }
    }

    @Test("L2: after a lock neither side copies", arguments: BackEnd.available)
    func locked(_ backEnd: BackEnd) throws {
        try backEnd.run { client, fixture in
            try client.put(Self.a, "source")
            let source = try client.open(Self.a, [])
            let target = try client.open(Self.b, [.create, .writeOnly])
            #expect(try client.copyRange(from: source, at: 0, to: target, at: 0, count: 3) == 3)
            try client.put("/.keychainfs/control", "lock\n")
            let error = client.errno { c throws(Errno) in
                _ = try c.copyRange(from: source, at: 0, to: target, at: 0, count: 3)
            }
            #expect(error == Errno(rawValue: 126))
            #expect(client.errno { c throws(Errno) in try c.close(target) } == Errno(rawValue: 126))
            try client.close(source)
        }
    }
}
