internal import Keychain
internal import SQLiteRows
internal import SecretCrypto

/// The store's row, slots, devices and wrapped class keys, which are few and read together.
extension SQLiteRecords {
    func store() throws(KeychainFault) -> StoreRecord {
        let format = try format()
        let sql = """
            SELECT identifier, salt, passes, memory, user_key_generation, master_key_generation, reader_mask, writer_mask, \
            master_keys_seal, master_keys, header_seal, header FROM store WHERE id = 1
            """
        let record = try row(sql) { row in
            guard let passes = UInt64(exactly: try row.number(2)), let memory = UInt64(exactly: try row.number(3))
            else { throw KeychainFault.decode }
            return StoreRecord(
                format: format, identifier: try row.bytes(0, count: 16), salt: try row.bytes(1, count: 16),
                cost: Argon2id.Cost(passes: passes, memory: memory), userKeyGeneration: try row.number(4),
                masterKeyGeneration: try row.number(5), readerMask: try row.number(6), writerMask: try row.number(7),
                masterKeys: try row.sealed(nonceAndTag: 8, ciphertext: 9),
                header: try row.sealed(nonceAndTag: 10, ciphertext: 11))
        }
        guard let record else { throw .decode }
        return record
    }

    func put(_ store: StoreRecord) throws(KeychainFault) {
        guard let passes = Int64(exactly: store.cost.passes), let memory = Int64(exactly: store.cost.memory),
            let format = Int32(exactly: store.format)
        else { throw .param }
        if try self.format() != store.format { try execute("PRAGMA user_version = \(format)", []) }
        erasures?.note()
        try execute(
            """
            INSERT OR REPLACE INTO store (id, identifier, salt, passes, memory, user_key_generation, \
            master_key_generation, reader_mask, writer_mask, master_keys_seal, master_keys, header_seal, header) \
            VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .blob(store.identifier), .blob(store.salt), .integer(passes), .integer(memory),
                .integer(store.userKeyGeneration), .integer(store.masterKeyGeneration), .integer(store.readerMask),
                .integer(store.writerMask), .nonceAndTag(store.masterKeys.nonceAndTag),
                .blob(store.masterKeys.ciphertext), .nonceAndTag(store.header.nonceAndTag),
                .blob(store.header.ciphertext),
            ])
    }

    func put(_ header: Sealed) throws(KeychainFault) {
        let changed = try execute(
            "UPDATE store SET header_seal = ?, header = ? WHERE id = 1",
            [.nonceAndTag(header.nonceAndTag), .blob(header.ciphertext)])
        guard changed == 1 else { throw .decode }
    }

    private func format() throws(KeychainFault) -> Int {
        try row("PRAGMA user_version") { Int(try $0.number(0)) } ?? 0
    }

    func slots() throws(KeychainFault) -> [SlotRecord] {
        let bytes = ["ephemeral", "parameters", "user_key_seal", "user_key", "recipient_seal", "recipient"]
        let sql = "SELECT id, kind, user_key_generation, \(Self.bounded(bytes)) FROM slot ORDER BY id"
        return try wellFormedRows(sql) { row in
            SlotRecord(
                id: try row.number(0), kind: try row.value(1), parameters: try row.bytes(4),
                userKeyGeneration: try row.number(2), ephemeral: try row.bytes(3),
                userKey: try row.sealed(nonceAndTag: 5, ciphertext: 6),
                recipient: try row.sealed(nonceAndTag: 7, ciphertext: 8))
        }
    }

    func put(_ slot: SlotRecord) throws(KeychainFault) {
        erasures?.note()
        try execute(
            """
            INSERT OR REPLACE INTO slot (id, kind, user_key_generation, user_key_seal, recipient_seal, ephemeral, \
            parameters, user_key, recipient) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(slot.id), .integer(Int64(slot.kind.rawValue)), .integer(slot.userKeyGeneration),
                .nonceAndTag(slot.userKey.nonceAndTag),
                .nonceAndTag(slot.recipient.nonceAndTag), .blob(slot.ephemeral), .blob(slot.parameters),
                .blob(slot.userKey.ciphertext), .blob(slot.recipient.ciphertext),
            ])
    }

    func deleteSlot(_ id: Int64) throws(KeychainFault) {
        erasures?.note()
        try execute("DELETE FROM slot WHERE id = ?", [.integer(id)])
    }

    func devices() throws(KeychainFault) -> [DeviceRecord] {
        let sql = "SELECT id, mark, \(Self.bounded(["tag", "mark_id"])) FROM device ORDER BY id"
        return try wellFormedRows(sql) { row in
            let mark = DeviceMark(
                commit: try row.number(1), commitID: try row.bytes(3, count: StoreHeader.commitIDCount))
            guard mark.commit >= 0 else { throw KeychainFault.decode }
            return DeviceRecord(id: try row.number(0), tag: try row.tag(2), mark: mark)
        }
    }

    func put(_ device: DeviceRecord) throws(KeychainFault) {
        try execute(
            "INSERT OR REPLACE INTO device (id, tag, mark, mark_id) VALUES (?, ?, ?, ?)",
            [
                .integer(device.id), .blob(device.tag), .integer(device.mark.commit), .blob(device.mark.commitID),
            ])
    }

    func classKeys() throws(KeychainFault) -> [ClassKeyRecord] {
        let sql = """
            SELECT purpose, generation, device, wrapping, user_key_generation, \(Self.bounded(["keys_seal", "keys"])) \
            FROM class_key ORDER BY purpose, generation, device, wrapping
            """
        return try wellFormedRows(sql) { row in
            guard let raw = UInt8(exactly: try row.number(0)), let purpose = KeyPurpose(rawValue: raw)
            else { throw KeychainFault.decode }
            return ClassKeyRecord(
                purpose: purpose, generation: try row.number(1), device: try row.number(2),
                wrapping: try row.value(3), userKeyGeneration: try row.number(4),
                keys: try row.sealed(nonceAndTag: 5, ciphertext: 6))
        }
    }

    func put(_ key: ClassKeyRecord) throws(KeychainFault) {
        try execute(
            """
            INSERT OR REPLACE INTO class_key (purpose, generation, device, wrapping, user_key_generation, keys_seal, keys) \
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(Int64(key.purpose.rawValue)), .integer(key.generation), .integer(key.device),
                .integer(Int64(key.wrapping.rawValue)),
                .integer(key.userKeyGeneration), .nonceAndTag(key.keys.nonceAndTag), .blob(key.keys.ciphertext),
            ])
    }

    func deleteClassKey(_ key: ClassKeyRecord) throws(KeychainFault) {
        erasures?.note()
        try execute(
            "DELETE FROM class_key WHERE purpose = ? AND generation = ? AND device = ? AND wrapping = ?",
            [
                .integer(Int64(key.purpose.rawValue)), .integer(key.generation), .integer(key.device),
                .integer(Int64(key.wrapping.rawValue)),
            ])
    }

    func userKeys() throws(KeychainFault) -> [UserKeyRecord] {
        let sql = "SELECT generation, \(Self.bounded(["key_seal", "key"])) FROM user_key ORDER BY generation"
        return try wellFormedRows(sql) { row in
            UserKeyRecord(generation: try row.number(0), key: try row.sealed(nonceAndTag: 1, ciphertext: 2))
        }
    }

    func damagedKeys() throws(KeychainFault) -> DamagedKeys {
        var damaged = DamagedKeys()
        damaged.slots = try rowCount("slot") - slots().count
        damaged.devices = try rowCount("device") - devices().count
        damaged.classKeys = try rowCount("class_key") - classKeys().count
        damaged.userKeys = try rowCount("user_key") - userKeys().count
        return damaged
    }

    private static func bounded(_ columns: [String]) -> String {
        columns.map { ValueLimit.bounded($0) }.joined(separator: ", ")
    }

    private func rowCount(_ table: String) throws(KeychainFault) -> Int {
        try row("SELECT count(*) FROM \(table)") { Int(try $0.number(0)) } ?? 0
    }

    func put(_ key: UserKeyRecord) throws(KeychainFault) {
        erasures?.note()
        try execute(
            "INSERT OR REPLACE INTO user_key (generation, key_seal, key) VALUES (?, ?, ?)",
            [.integer(key.generation), .nonceAndTag(key.key.nonceAndTag), .blob(key.key.ciphertext)])
    }

    func deleteUserKey(_ generation: Int64) throws(KeychainFault) {
        erasures?.note()
        try execute("DELETE FROM user_key WHERE generation = ?", [.integer(generation)])
    }
}
