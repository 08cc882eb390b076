import SecretCrypto

/// The records that a device must add to a store that it uses: its device record, its own ThisDeviceOnly keys, and its
/// wrappings of the Always keys (contract, S3). Empty for an enrolled device.
struct DeviceEnrollment {
    let device: DeviceRecord
    let isNewDevice: Bool
    /// The purposes that get a new generation, and its number.
    private(set) var fresh: [(purpose: KeyPurpose, generation: Int64)] = []
    /// The records wrapped by the user key that lack a wrapping by this device's key.
    private(set) var unshared: [ClassKeyRecord] = []

    /// Determines the missing records from those of the store. Writes nothing.
    init(tag: [UInt8], devices: [DeviceRecord], records: [ClassKeyRecord], hasPassphrase: Bool) {
        if let known = devices.first(where: { $0.tag == tag }) {
            device = known
            isNewDevice = false
        } else {
            // A number is never reused, even if a record was lost.
            let used = devices.map(\.id) + records.map(\.device)
            device = DeviceRecord(id: (used.filter(ClassKeyRecord.numbers.contains).max() ?? 0) + 1, tag: tag)
            isNewDevice = true
        }
        for purpose in KeyPurpose.all {
            let own = records.filter { $0.purpose == purpose && $0.isLegitimate }
            if purpose.isThisDeviceOnly {
                let isUseless = purpose == .protection(.whenPasscodeSetThisDeviceOnly) && !hasPassphrase
                guard !isUseless, !own.contains(where: { $0.device == device.id }) else { continue }
                fresh.append((purpose, (own.map(\.generation).max() ?? 0) + 1))
            } else if purpose.wrappings.contains(.deviceKey) {
                let shared = Set(own.filter { $0.device == device.id }.map(\.generation))
                unshared += own.filter { $0.wrapping == .userKey && !shared.contains($0.generation) }
            }
        }
    }

    var isEmpty: Bool { !isNewDevice && fresh.isEmpty && unshared.isEmpty }

    /// Writes the missing records. Ignores a user-key record that cannot be opened, because it is damaged for all
    /// devices.
    func write(to writer: any RecordWriter, keys: borrowing WrappingKeys) throws(KeychainFault) {
        if isNewDevice { try writer.put(device) }
        for (purpose, generation) in fresh {
            for record in try fresh(purpose, generation, keys: keys) { try writer.put(record) }
        }
        for record in unshared {
            guard let own = try rewrapped(record, keys: keys) else { continue }
            try writer.put(own)
        }
    }

    private func fresh(
        _ purpose: KeyPurpose, _ generation: Int64, keys: borrowing WrappingKeys
    ) throws(KeychainFault) -> [ClassKeyRecord] {
        do throws(CryptoError) {
            let material = try SecretBytes(randomCount: purpose.materialCount)
            return try keys.records(of: material, purpose, generation: generation, device: device.id)
        } catch {
            throw KeychainFault(error)
        }
    }

    private func rewrapped(
        _ record: ClassKeyRecord, keys: borrowing WrappingKeys
    ) throws(KeychainFault) -> ClassKeyRecord? {
        do throws(CryptoError) {
            return try keys.wrap(
                keys.unwrap(record), purpose: record.purpose, generation: record.generation, device: device.id,
                wrapping: .deviceKey)
        } catch {
            guard KeychainFault(error) == .decode else { throw KeychainFault(error) }
            return nil
        }
    }
}
