import SecretCrypto

/// All key records of a store at one point in time.
struct KeySnapshot {
    let store: StoreRecord
    let slots: [SlotRecord]
    let devices: [DeviceRecord]
    var classKeys: [ClassKeyRecord]
    let userKeys: [UserKeyRecord]
    /// Whether some rows cannot be read. Nothing is written then, because it could replace one of them.
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

    /// Whether items of WhenPasscodeSetThisDeviceOnly may be used: a slot with a passphrase exists that is authentic for
    /// the user key.
    func hasPassphrase(userKey: borrowing SecretBytes) throws(KeychainFault) -> Bool {
        for slot in slots where slot.kind.hasPassphrase {
            if try isAuthentic(for: slot, userKey: userKey) { return true }
        }
        return false
    }

    /// Returns the number of the device with that tag; nil if it has never unlocked the store.
    func device(tag: [UInt8]) -> Int64? {
        devices.first { $0.tag == tag }?.id
    }

    /// Returns the mark of the device with that tag; ``DeviceMark/none`` if it has no row.
    func mark(tag: [UInt8]) -> DeviceMark { devices.first { $0.tag == tag }?.mark ?? .none }

    func enrollment(tag: [UInt8], hasPassphrase: Bool) -> DeviceEnrollment {
        DeviceEnrollment(tag: tag, devices: devices, records: classKeys, hasPassphrase: hasPassphrase)
    }

    /// Opens the class keys. `hasPassphrase` is used only if the user key is available.
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
