import SecretCrypto

/// What a device still has to write to be at home in a store: its record, ThisDeviceOnly keys of its own, and its
/// wrappings of the Always keys (contract, S3). Empty for a device that has it all.
struct DeviceEnrollment {
    let device: DeviceRecord
    let isNewDevice: Bool
    /// Purposes that get a generation of their own, and which.
    private(set) var fresh: [(purpose: KeyPurpose, generation: Int64)] = []
    /// Records by user key that lack a wrapping by this device's key.
    private(set) var unshared: [ClassKeyRecord] = []

    /// From what the store holds; calculates only.
    init(tag: [UInt8], devices: [DeviceRecord], records: [ClassKeyRecord], hasPassphrase: Bool) {
        if let known = devices.first(where: { $0.tag == tag }) {
            device = known
            isNewDevice = false
        } else {
            // A number is never given twice, even if a record was lost.
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

    /// Writes what is missing. A user-key record that does not open is left out: it is damaged for all.
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
