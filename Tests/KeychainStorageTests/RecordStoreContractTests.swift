import Keychain
import SecretCrypto
import Testing

/// The contract of RecordStore, for each of its implementations.
@Suite("S7: the contract of RecordStore, for every store", .serialized)
struct RecordStoreContractTests {
    /// Calls `body` with an empty store of every kind.
    private func eachStore(_ body: (any RecordStore) throws -> Void) throws {
        for kind in StoreKind.allCases {
            let (store, keep) = try kind.make()
            try withExtendedLifetime(keep) { try body(store) }
            store.close()
        }
    }

    @Test("every kind of key record is read back as it was put")
    func keyRecords() throws {
        try eachStore { store in
            let record = try Samples.store()
            let slots = [try Samples.slot(1), try Samples.slot(2, kind: .recoveryKey)]
            let device = DeviceRecord(
                id: 1, tag: Samples.tag(5), mark: DeviceMark(commit: 1 << 40, commitID: Samples.tag(6)))
            let keys = [
                try Samples.classKey(.protection(.whenUnlocked), generation: 1),
                try Samples.classKey(.protection(.whenUnlocked), generation: 2, device: 1),
                try Samples.classKey(.alwaysLookup, generation: 1),
            ]
            try store.write { writer throws(KeychainFault) in
                try writer.put(record)
                for slot in slots { try writer.put(slot) }
                try writer.put(device)
                for key in keys { try writer.put(key) }
            }
            #expect(try store.read { reader throws(KeychainFault) in try reader.store() } == record)
            #expect(try store.read { reader throws(KeychainFault) in try reader.slots() } == slots)
            #expect(try store.read { reader throws(KeychainFault) in try reader.devices() } == [device])
            #expect(Set(try store.read { reader throws(KeychainFault) in try reader.classKeys() }) == Set(keys))
        }
    }

    @Test("putting a key record again replaces it, deleting removes it, deleting a missing one is not an error")
    func replacingKeyRecords() throws {
        try eachStore { store in
            var slot = try Samples.slot(1)
            var key = try Samples.classKey(.protection(.always), generation: 1)
            var record = try Samples.store()
            try store.write { writer throws(KeychainFault) in
                try writer.put(record)
                try writer.put(slot)
                try writer.put(key)
            }
            slot.parameters = []
            key.keys = try Samples.sealed(0x33)
            record.header = try Samples.sealed(0x34)
            try store.write { writer throws(KeychainFault) in
                try writer.put(record)
                try writer.put(slot)
                try writer.put(key)
                try writer.deleteSlot(99)
            }
            #expect(try store.read { reader throws(KeychainFault) in try reader.store() } == record)
            #expect(try store.read { reader throws(KeychainFault) in try reader.slots() } == [slot])
            #expect(try store.read { reader throws(KeychainFault) in try reader.classKeys() } == [key])
            try store.write { writer throws(KeychainFault) in
                try writer.deleteSlot(1)
                try writer.deleteClassKey(key)
                try writer.deleteClassKey(key)
            }
            #expect(try store.read { reader throws(KeychainFault) in try reader.slots() }.isEmpty)
            #expect(try store.read { reader throws(KeychainFault) in try reader.classKeys() }.isEmpty)
        }
    }

    @Test("rows are found by id, by tag and by Always tag")
    func lookUps() throws {
        try eachStore { store in
            let directory = try Samples.directory(2, always: true)
            var item = try Samples.item(3, protection: .always, chunks: 17)
            item.ephemeral = Array(repeating: 4, count: 32)
            item.mac = Array(repeating: 5, count: 32)
            item.masterKeyGeneration = 7
            item.secretRow = RowID(rawValue: 8)
            let secret = (0..<1_048_577).map { UInt8(truncatingIfNeeded: $0) }
            try store.write { writer throws(KeychainFault) in
                try writer.put(directory)
                try writer.put(item, secret: secret)
            }
            try store.read { reader throws(KeychainFault) in
                #expect(try reader.directory(id: directory.id) == directory)
                #expect(try reader.directory(tag: Samples.tag(2), always: false) == directory)
                #expect(try reader.directory(tag: Samples.tag(2, always: true), always: true) == directory)
                #expect(try reader.directory(tag: Samples.tag(2), always: true) == nil)
                #expect(try reader.item(id: item.id) == item)
                #expect(try reader.item(tag: Samples.tag(3), always: false) == item)
                #expect(try reader.item(tag: Samples.tag(3, always: true), always: true) == item)
                #expect(try reader.item(tag: Samples.tag(3, always: true), always: false) == nil)
                #expect(try reader.item(id: RowID(rawValue: 4)) == nil)
                #expect(try reader.secret(of: item.id) == secret)
                #expect(try reader.secret(of: RowID(rawValue: 4)).isEmpty)
                #expect(try reader.itemCount() == 1)
            }
        }
    }

    @Test("a nil secret keeps the ciphertext, another replaces it, an empty one removes it")
    func secrets() throws {
        try eachStore { store in
            var item = try Samples.item(3)
            let id = item.id
            func secret() throws -> [UInt8] {
                try store.read { reader throws(KeychainFault) in try reader.secret(of: id) }
            }
            try store.write { [item] writer throws(KeychainFault) in try writer.put(item, secret: [1, 2, 3]) }
            item.version = 2
            item.metadata = try Samples.sealed(0x77, count: 4096)
            try store.write { [item] writer throws(KeychainFault) in try writer.put(item, secret: nil) }
            #expect(try store.read { reader throws(KeychainFault) in try reader.item(id: id) } == item)
            #expect(try secret() == [1, 2, 3])
            // Of any size, which determines their table.
            for bytes: [UInt8] in [Array(repeating: 5, count: 5000), [4], Array(repeating: 6, count: 1025)] {
                item.secretRow = bytes.count > 1024 ? RowID(rawValue: 9) : nil
                try store.write { [item] writer throws(KeychainFault) in try writer.put(item, secret: bytes) }
                #expect(try secret() == bytes)
                try store.write { [item] writer throws(KeychainFault) in try writer.put(item, secret: nil) }
                #expect(try secret() == bytes)
                let both = try store.read { reader throws(KeychainFault) in try reader.itemWithSecret(id: id) }
                #expect(both?.item == item && both?.secret == bytes)
            }
            (item.secretSeals, item.secretRow) = (ChunkSeals(), nil)
            try store.write { [item] writer throws(KeychainFault) in try writer.put(item, secret: []) }
            #expect(try store.read { reader throws(KeychainFault) in try reader.item(id: id) } == item)
            #expect(try secret().isEmpty)
        }
    }

    @Test("a row moves to another directory, tag and Always tag")
    func moving() throws {
        try eachStore { store in
            var item = try Samples.item(3)
            var directory = try Samples.directory(2)
            try store.write { [item, directory] writer throws(KeychainFault) in
                try writer.put(directory)
                try writer.put(item, secret: [1])
            }
            item.directory = RowID(rawValue: 9)
            item.tag = Samples.tag(33)
            item.alwaysTag = Samples.tag(33, always: true)
            directory.parent = RowID(rawValue: 8)
            directory.tag = Samples.tag(22)
            directory.alwaysTag = Samples.tag(22, always: true)
            directory.alwaysName = try Samples.sealed(0x55)
            try store.write { [item, directory] writer throws(KeychainFault) in
                try writer.put(directory)
                try writer.put(item, secret: nil)
            }
            try store.read { reader throws(KeychainFault) in
                #expect(try reader.item(tag: Samples.tag(3), always: false) == nil)
                #expect(try reader.item(tag: Samples.tag(33), always: false) == item)
                #expect(try reader.items(directory: RowID(rawValue: 2), after: .none, limit: 9).isEmpty)
                #expect(try reader.items(directory: RowID(rawValue: 9), after: .none, limit: 9) == [item])
                #expect(try reader.secret(of: item.id) == [1])
                #expect(try reader.directory(tag: Samples.tag(2), always: false) == nil)
                #expect(try reader.directories(parent: RowID(rawValue: 8), after: .none, limit: 9) == [directory])
            }
        }
    }

    @Test("a tag that another row has is refused, and the transaction can continue")
    func duplicates() throws {
        try eachStore { store in
            let item = try Samples.item(3, protection: .always)
            let directory = try Samples.directory(2, always: true)
            try store.write { writer throws(KeychainFault) in
                try writer.put(directory)
                try writer.put(item, secret: nil)
            }
            var sameTag = try Samples.item(4)
            sameTag.tag = item.tag
            var sameAlwaysTag = try Samples.item(5)
            sameAlwaysTag.alwaysTag = item.alwaysTag
            var sameDirectory = try Samples.directory(6)
            sameDirectory.tag = directory.tag
            for other in [sameTag, sameAlwaysTag] {
                #expect(throws: KeychainFault.duplicateItem) {
                    try store.write { writer throws(KeychainFault) in try writer.put(other, secret: [1]) }
                }
            }
            #expect(throws: KeychainFault.duplicateItem) {
                try store.write { [sameDirectory] writer throws(KeychainFault) in try writer.put(sameDirectory) }
            }
            let accepted = try Samples.item(7)
            try store.write { [sameTag] writer throws(KeychainFault) in
                do throws(KeychainFault) { try writer.put(sameTag, secret: nil) } catch {}
                try writer.put(accepted, secret: nil)
            }
            #expect(try store.read { reader throws(KeychainFault) in try reader.itemCount() } == 2)
            #expect(try store.read { reader throws(KeychainFault) in try reader.item(id: accepted.id) } == accepted)
        }
    }

    @Test("F4: a write whose body throws leaves no change; within it, reads see the changes")
    func rollback() throws {
        try eachStore { store in
            let item = try Samples.item(3)
            #expect(throws: KeychainFault.authFailed) {
                try store.write { writer throws(KeychainFault) in
                    try writer.put(item, secret: [1])
                    try writer.put(Samples.anySlot)
                    #expect(try writer.item(id: item.id) == item)
                    #expect(try writer.secret(of: item.id) == [1])
                    throw KeychainFault.authFailed
                }
            }
            try store.read { reader throws(KeychainFault) in
                #expect(try reader.item(id: item.id) == nil)
                #expect(try reader.secret(of: item.id).isEmpty)
                #expect(try reader.slots().isEmpty)
                #expect(try reader.firstUnusedRowID(from: .first) == .first)
            }
        }
    }

    @Test("T6: listings are in the order of ids, in pages, and deletions neither repeat nor hide others")
    func listing() throws {
        try eachStore { store in
            let ids = Array(Int64(10)..<60)
            let items = try ids.shuffled().map { try Samples.item($0) } + [try Samples.item(70, directory: 3)]
            let directories = try ids.shuffled().map { try Samples.directory($0 + 100) }
            try store.write { writer throws(KeychainFault) in
                for item in items { try writer.put(item, secret: nil) }
                for directory in directories { try writer.put(directory) }
            }
            var seen: [Int64] = []
            var after = RowID.none
            while true {
                let from = after
                let page = try store.read { reader throws(KeychainFault) in
                    try reader.items(directory: RowID(rawValue: 2), after: from, limit: 7)
                }
                #expect(page.count <= 7)
                guard let last = page.last else { break }
                seen += page.map(\.id.rawValue)
                after = last.id
                // The row just listed, and a later one.
                try store.write { writer throws(KeychainFault) in
                    try writer.deleteItem(last.id)
                    try writer.deleteItem(RowID(rawValue: 59))
                }
            }
            #expect(seen == Array(10..<59))
            let listed = try store.read { reader throws(KeychainFault) in
                try reader.directories(parent: RowID(rawValue: 1), after: RowID(rawValue: 140), limit: 100)
            }
            #expect(listed.map(\.id.rawValue) == Array(141..<160))
            let none = try store.read { reader throws(KeychainFault) in
                try reader.directories(parent: RowID(rawValue: 1), after: .none, limit: 0)
            }
            #expect(none.isEmpty)
        }
    }

    @Test("the header is replaced alone")
    func header() throws {
        try eachStore { store in
            let (record, header) = (try Samples.store(), try Samples.sealed(0x35))
            try store.write { writer throws(KeychainFault) in
                try writer.put(record)
                try writer.put(header)
            }
            var expected = record
            expected.header = header
            #expect(try store.read { reader throws(KeychainFault) in try reader.store() } == expected)
        }
    }

    @Test("S2: pages of all items and directories are in the order of IDs")
    func pages() throws {
        try eachStore { store in
            var items = try (Int64(1)...9).map { try Samples.item($0, directory: 20 + $0 % 2, chunks: Int($0)) }
            items[3].ephemeral = Array(repeating: 4, count: 32)
            items[3].mac = Array(repeating: 5, count: 32)
            items[5].alwaysTag = Samples.tag(5, always: true)
            for index in items.indices { items[index].secretRow = RowID(rawValue: 100 + Int64(index)) }
            let directories = try [21, 22, 23].map { try Samples.directory($0, always: $0 == 22) }
            try store.write { [items] writer throws(KeychainFault) in
                for item in items { try writer.put(item, secret: Samples.longSecret) }
                for directory in directories { try writer.put(directory) }
            }
            try store.read { [items] reader throws(KeychainFault) in
                let third = RowID(rawValue: 3)
                #expect(try reader.items(after: third, limit: 4) == Array(items[3..<7]))
                #expect(try reader.items(after: RowID(rawValue: 9), limit: 4).isEmpty)
                #expect(try reader.directories(after: .none, limit: 9) == directories)
                #expect(try reader.directories(after: directories[1].id, limit: 1) == [directories[2]])
                #expect(try reader.ephemeralItems(after: .none, limit: 9) == [items[3].id])
                #expect(try reader.ephemeralItems(after: items[3].id, limit: 9).isEmpty)
                #expect(try reader.holdsAlwaysItem(items[5].directory))
                #expect(try !reader.holdsAlwaysItem(items[4].directory))
                #expect(try reader.holdsAlwaysDirectory(RowID(rawValue: 1)))
                #expect(try !reader.holdsAlwaysDirectory(RowID(rawValue: 2)))
            }
        }
    }

    @Test("L1: the classes of the items in a directory, and of those in its subdirectories")
    func classesBelow() throws {
        try eachStore { store in
            // 10 contains 11, which contains 12; 13 and 14 form a cycle.
            let parents: [(Int64, Int64)] = [(10, 0), (11, 10), (12, 11), (13, 14), (14, 13)]
            let items: [(Int64, Int64, ProtectionClass, Int64)] = [
                (20, 11, .whenUnlocked, 1), (21, 12, .whenUnlocked, 1), (22, 12, .always, 1),
                (23, 12, .whenUnlocked, 2), (24, 14, .afterFirstUnlock, 3), (25, 15, .alwaysThisDeviceOnly, 1),
            ]
            let directories = try parents.map { try Samples.directory($0.0, parent: $0.1) }
            let records = try items.map { id, directory, protection, generation in
                var item = try Samples.item(id, directory: directory, protection: protection)
                item.generation = generation
                return item
            }
            try store.write { writer throws(KeychainFault) in
                for directory in directories { try writer.put(directory) }
                for record in records { try writer.put(record, secret: [1]) }
            }
            func below(_ id: Int64) throws -> Set<[Int64]> {
                let found = try store.read { reader throws(KeychainFault) in
                    try reader.itemClasses(below: RowID(rawValue: id))
                }
                #expect(found.count == Set(found.map { [Int64($0.protection.rawValue), $0.generation] }).count)
                return Set(found.map { [Int64($0.protection.rawValue), $0.generation] })
            }
            #expect(try below(10) == [[6, 1], [8, 1], [6, 2]] && below(12) == below(10))
            #expect(try below(13) == [[7, 3]] && below(14) == [[7, 3]])
            #expect(try below(15) == [[11, 1]] && below(16).isEmpty)
        }
    }

    @Test("after close everything is refused; closing again does nothing")
    func closing() throws {
        try eachStore { store in
            store.close()
            store.close()
            #expect(throws: KeychainFault.notAvailable) {
                try store.read { reader throws(KeychainFault) in try reader.itemCount() }
            }
            #expect(throws: KeychainFault.notAvailable) {
                try store.write { writer throws(KeychainFault) in try writer.deleteSlot(1) }
            }
            #expect(throws: KeychainFault.notAvailable) { try store.verifyStructure() }
        }
    }

    @Test("an intact store has no faults; calls of many threads do not disturb one another")
    func threads() async throws {
        for kind in StoreKind.allCases {
            let (store, keep) = try kind.make()
            let items = try (Int64(1)...40).map { try Samples.item($0) }
            await withTaskGroup(of: Void.self) { group in
                for item in items {
                    group.addTask {
                        #expect(throws: Never.self) {
                            try store.write { writer throws(KeychainFault) in try writer.put(item, secret: [1]) }
                            let found = try store.read { reader throws(KeychainFault) in try reader.item(id: item.id) }
                            #expect(found == item)
                        }
                    }
                }
            }
            #expect(try store.read { reader throws(KeychainFault) in try reader.itemCount() } == 40)
            #expect(try store.verifyStructure() == 0)
            store.close()
            withExtendedLifetime(keep) {}
        }
    }
}

extension Samples {
    /// For bodies that may throw nothing but ``KeychainFault``.
    static var anySlot: SlotRecord {
        get throws(KeychainFault) {
            guard let slot = try? slot(1) else { throw .param }
            return slot
        }
    }
}
