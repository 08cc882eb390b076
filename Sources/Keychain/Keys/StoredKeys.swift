import SecretCrypto

/// All that a store holds about keys, read at one moment.
struct StoredKeys {
    let store: StoreRecord
    let slots: [SlotRecord]
    let devices: [DeviceRecord]
    let classKeys: [ClassKeyRecord]

    init(_ reader: any RecordReader) throws(KeychainError) {
        store = try reader.store()
        slots = try reader.slots()
        devices = try reader.devices()
        classKeys = try reader.classKeys()
        guard store.format == StoreRecord.currentFormat else { throw .unknownFormat(store.format) }
        guard store.identifier.count == StoreRecord.identifierCount else { throw .decode }
    }

    /// Whether items of WhenPasscodeSetThisDeviceOnly may be used at all.
    var hasPassphrase: Bool { slots.contains { $0.kind == .passphrase } }

    /// The number of the device with that tag; nil if it has never unlocked the store.
    func device(tag: [UInt8]) -> Int64? {
        devices.first { $0.tag == tag }?.id
    }

    func enrolment(tag: [UInt8]) -> DeviceEnrolment {
        DeviceEnrolment(tag: tag, devices: devices, records: classKeys, hasPassphrase: hasPassphrase)
    }

    func table(tag: [UInt8], keys: borrowing WrappingKeys) throws(KeychainError) -> KeyTable {
        try KeyTable(
            records: classKeys, device: device(tag: tag), hasPassphrase: hasPassphrase, keys: keys)
    }
}
