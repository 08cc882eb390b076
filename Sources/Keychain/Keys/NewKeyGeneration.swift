import SecretCrypto

/// A new generation of the class keys of every class that this device has keys of (contract, L5): what is written from
/// then on is sealed under it.
///
/// The Always look-up keys stay: tags are made of them.
struct NewKeyGeneration {
    let records: [ClassKeyRecord]

    /// - Parameters:
    ///   - device: this device's number in the store.
    ///   - hasPassphrase: whether WhenPasscodeSetThisDeviceOnly has keys.
    ///   - keys: of the present user key and this device.
    /// - Throws: `allocate`; `decode` if there is no number left for a generation.
    init(
        after existing: [ClassKeyRecord], device: Int64, hasPassphrase: Bool, keys: borrowing WrappingKeys
    ) throws(KeychainFault) {
        var records: [ClassKeyRecord] = []
        for protection in ProtectionClass.allCases where hasPassphrase || protection != .whenPasscodeSetThisDeviceOnly {
            let purpose = KeyPurpose.protection(protection)
            let generations = existing.filter { $0.purpose == purpose && $0.isLegitimate }.map(\.generation)
            let next = (generations.max() ?? 0) + 1
            guard ClassKeyRecord.numbers.contains(next) else { throw .decode }
            do throws(CryptoError) {
                let material = try SecretBytes(randomCount: purpose.materialCount)
                records += try keys.records(of: material, purpose, generation: next, device: device)
            } catch {
                throw KeychainFault(error)
            }
        }
        self.records = records
    }

    func write(to writer: any RecordWriter) throws(KeychainFault) {
        for record in records { try writer.put(record) }
    }
}
