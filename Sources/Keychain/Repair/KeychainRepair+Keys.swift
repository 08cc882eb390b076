import SecretCrypto
import Synchronization

extension KeychainRepair {
    /// Copies keys unchanged, because only some devices can open them. If two have one identity, copies a key that can
    /// be opened.
    ///
    /// - Parameter mark: The new mark of this device, which accepts the copy then, even if its state cannot be stored.
    func copyKeys(
        from reader: any RecordReader, to writer: DigestingWriter, mark: DeviceMark
    ) throws(KeychainFault) {
        for slot in try reader.slots() { try writer.put(slot) }
        for var device in try reader.devices() {
            if device.tag == keys.deviceTag { device.mark = mark }
            try writer.put(device)
        }
        let device = try KeySnapshot(reader).device(tag: keys.deviceTag)
        for key in try reader.classKeys() where !keys.mismatchedKeys.contains(key) {
            if key.device == device, try isSuperseded(key) { continue }
            try writer.put(key)
        }
        for key in try reader.userKeys() { try writer.put(key) }
    }

    /// Whether a wrapping by the device key is damaged, or contains other keys than the wrapping by the user key. A thief
    /// of the device key can plant these. The unlock of the copy wraps the right ones again.
    private func isSuperseded(_ record: ClassKeyRecord) throws(KeychainFault) -> Bool {
        guard record.wrapping == .deviceKey, record.purpose.wrappings.contains(.userKey),
            case .opened(let known)? = keys.current.withLock({ $0.table[record.purpose, record.generation] })
        else { return false }
        let found = try nilIfDamaged { () throws(KeychainFault) in
            try keys.device.using { (device) throws(CryptoError) in
                let material = try WrappingKeys(device: device, store: keys.storeID).unwrap(record)
                return try ClassKeys(purpose: record.purpose, generation: record.generation, material: material)
            }
        }
        return found.map { !known.hasSameKeys(as: $0) } ?? true
    }
}
