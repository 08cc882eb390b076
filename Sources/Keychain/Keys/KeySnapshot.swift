import SecretCrypto

/// All that a store holds about keys, read at one moment.
struct KeySnapshot {
    let store: StoreRecord
    let slots: [SlotRecord]
    let devices: [DeviceRecord]
    var classKeys: [ClassKeyRecord]
    let userKeys: [UserKeyRecord]
    /// Whether there are rows that cannot be read. Nothing new is written then: it could take the place of one of them.
    let isDamaged: Bool

    init(_ reader: any RecordReader) throws(KeychainFault) {
        store = try reader.store()
        slots = try reader.slots()
        devices = try reader.devices()
        classKeys = try reader.classKeys()
        userKeys = try reader.userKeys()
        isDamaged = try reader.damagedKeys().total != 0
        guard store.format == StoreRecord.currentFormat else { throw .unknownFormat(store.format) }
        guard store.identifier.count == StoreRecord.identifierCount else { throw .decode }
    }

    /// Whether items of WhenPasscodeSetThisDeviceOnly may be used at all: a passphrase slot that the user key knows. What
    /// only claims to be one counts for nothing.
    func hasPassphrase(userKey: borrowing SecretBytes) throws(KeychainFault) -> Bool {
        for slot in slots where slot.kind == .passphrase {
            if try isAuthentic(for: slot, userKey: userKey) { return true }
        }
        return false
    }

    /// The number of the device with that tag; nil if it has never unlocked the store.
    func device(tag: [UInt8]) -> Int64? {
        devices.first { $0.tag == tag }?.id
    }

    func enrolment(tag: [UInt8], hasPassphrase: Bool) -> DeviceEnrollment {
        DeviceEnrollment(tag: tag, devices: devices, records: classKeys, hasPassphrase: hasPassphrase)
    }

    /// `hasPassphrase` matters only once the user key is at hand.
    func table(
        tag: [UInt8], hasPassphrase: Bool = true, keys: borrowing WrappingKeys
    ) throws(KeychainFault) -> KeyTable {
        var table = try KeyTable(
            records: classKeys, device: device(tag: tag), of: Set(devices.map(\.id)), hasPassphrase: hasPassphrase,
            keys: keys)
        if keys.has(.userKey) { table.oldestCurrent = store.userKeyGeneration }
        return table
    }
}
