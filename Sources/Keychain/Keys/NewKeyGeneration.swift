import SecretCrypto

/// A new generation of class keys (contract, L5). Later writes are sealed under it.
///
/// The Always lookup keys stay, because tags depend on them.
struct NewKeyGeneration {
    let records: [ClassKeyRecord]

    /// Creates a generation.
    ///
    /// - Parameters:
    ///   - device: The number of this device in the store.
    ///   - includingDevice: Whether the classes of this device get keys, too. Their keys are also sealed under the
    ///     device key, which the holder of a removed slot does not have.
    ///   - hasPassphrase: Whether WhenPasscodeSetThisDeviceOnly gets keys.
    ///   - keys: The wrapping keys of the present user key and this device.
    /// - Throws: `allocate`; `decode` if no generation number is left.
    init(
        after existing: [ClassKeyRecord], device: Int64, includingDevice: Bool, hasPassphrase: Bool,
        keys: borrowing WrappingKeys
    ) throws(KeychainFault) {
        var records: [ClassKeyRecord] = []
        for protection in ProtectionClass.allCases where hasPassphrase || protection != .whenPasscodeSetThisDeviceOnly {
            let purpose = KeyPurpose.protection(protection)
            guard includingDevice || !purpose.isThisDeviceOnly else { continue }
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
