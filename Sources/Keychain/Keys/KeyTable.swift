import SecretCrypto

/// The available class keys. A plain value, protected by the key ring's mutex.
struct KeyTable {
    enum Entry {
        /// Opened; a lock may have revoked it since.
        case opened(ClassKeys)
        /// The record is not authentic.
        case damaged
        /// The key belongs to another device.
        case foreign
        /// The device number has no device record: damaged, because no device can open it, and not this device's own.
        case ownerless
        /// A key of WhenPasscodeSetThisDeviceOnly while no passphrase slot exists.
        case withheld

        /// Whether new rows can use it.
        var isOwn: Bool {
            switch self {
            case .opened, .damaged: true
            case .foreign, .ownerless, .withheld: false
            }
        }
    }

    private var entries: [KeyPurpose: [Int64: Entry]] = [:]
    /// The oldest generation that may be the current one. A new user key comes with a new generation of every class
    /// that it wraps. If the newest is older, rows of keys were removed from the store, and the holder of a former slot
    /// may know the remaining keys.
    var oldestCurrent: Int64 = 1
    /// Whether the store has a record of this device, and a passphrase slot. Otherwise it lacks keys that it could
    /// have.
    private var isDeviceKnown = false
    private var hasPassphrase = true
    /// The records that cannot be opened while another one with the same identity can. One changed byte has this
    /// effect. Only a store with salvaged rows contains two of an identity.
    private(set) var mismatchedKeys: Set<ClassKeyRecord> = []

    subscript(purpose: KeyPurpose, generation: Int64) -> Entry? { entries[purpose]?[generation] }

    /// Returns the newest generation that this device can have; nil if none exists.
    func current(_ purpose: KeyPurpose) -> Entry? {
        guard let newest = entries[purpose]?.filter({ $0.value.isOwn }).max(by: { $0.key < $1.key }) else { return nil }
        return purpose.isRenewedWithUserKey && newest.key < oldestCurrent ? .damaged : newest.value
    }

    /// Whether missing keys of this device for a purpose are not a damage.
    func mayLack(_ purpose: KeyPurpose) -> Bool {
        guard purpose.isThisDeviceOnly else { return false }
        return !isDeviceKnown || purpose == .protection(.whenPasscodeSetThisDeviceOnly) && !hasPassphrase
    }

    /// The classes and generations of other devices.
    var foreign: [(protection: ProtectionClass, generation: Int64)] {
        entries.flatMap { purpose, generations -> [(protection: ProtectionClass, generation: Int64)] in
            guard case .protection(let protection) = purpose else { return [] }
            return generations.compactMap { generation, entry in
                if case .foreign = entry { (protection, generation) } else { nil }
            }
        }
    }

    /// Whether keys exist that this device cannot have, in any lock state.
    var isMissingKeys: Bool {
        entries.values.contains { generations in
            generations.values.contains { entry in
                switch entry {
                case .foreign, .withheld: true
                case .opened, .damaged, .ownerless: false
                }
            }
        }
    }

    /// The keys that require a passphrase slot.
    var withheld: [(purpose: KeyPurpose, generation: Int64)] {
        entries.flatMap { purpose, generations in
            generations.compactMap { generation, entry in
                if case .withheld = entry { (purpose, generation) } else { nil }
            }
        }
    }

    /// Withholds keys, which require a passphrase slot from now on. Returns them, for the caller to revoke.
    mutating func withhold(_ places: [(purpose: KeyPurpose, generation: Int64)]) -> [ClassKeys] {
        var given: [ClassKeys] = []
        for (purpose, generation) in places {
            if case .opened(let keys) = entries[purpose]?[generation] { given.append(keys) }
            entries[purpose, default: [:]][generation] = .withheld
        }
        return given
    }

    /// Removes generations. Returns their opened keys.
    mutating func remove(_ generations: Set<KeyGeneration>) -> [ClassKeys] {
        var removed: [ClassKeys] = []
        for generation in generations {
            let purpose = KeyPurpose.protection(generation.protection)
            if case .opened(let keys) = entries[purpose]?.removeValue(forKey: generation.generation) {
                removed.append(keys)
            }
        }
        return removed
    }

    /// Returns all opened keys whose class meets the condition. The Always lookup keys count as Always.
    func opened(where condition: (ProtectionClass.Availability) -> Bool) -> [ClassKeys] {
        entries.values.flatMap(\.values).compactMap { entry in
            guard case .opened(let keys) = entry, condition(keys.purpose.availability) else { return nil }
            return keys
        }
    }

    /// Adds the keys of `other`, which was opened with the user key. Usable keys stay, for their present users.
    ///
    /// Other keys do not stay: a key that only the device key authenticates is replaced.
    mutating func merge(_ other: KeyTable) {
        oldestCurrent = max(oldestCurrent, other.oldestCurrent)
        mismatchedKeys.formUnion(other.mismatchedKeys)
        isDeviceKnown = isDeviceKnown || other.isDeviceKnown
        hasPassphrase = other.hasPassphrase
        for (purpose, generations) in other.entries {
            for (generation, entry) in generations {
                if case .opened(let new) = entry, case .opened(let old) = entries[purpose]?[generation],
                    old.isAvailable, !old.hasSameKeys(as: new)
                {
                    entries[purpose]?[generation] = nil
                }
                put(entry, purpose, generation)
            }
        }
    }

    /// Replaces all keys by those of `other`. Equal keys stay the same objects, for their present users.
    ///
    /// - Returns: The keys that are no longer in use, for the caller to revoke.
    mutating func replace(by other: KeyTable) -> [ClassKeys] {
        var (new, dropped) = (other, [ClassKeys]())
        for (purpose, generations) in entries {
            for (generation, entry) in generations {
                guard case .opened(let old) = entry else { continue }
                if case .opened(let same) = new[purpose, generation], old.hasSameKeys(as: same) {
                    new.entries[purpose, default: [:]][generation] = entry
                    dropped.append(same)
                } else {
                    dropped.append(old)
                }
            }
        }
        self = new
        return dropped
    }

    mutating func put(_ entry: Entry, _ purpose: KeyPurpose, _ generation: Int64) {
        switch (entries[purpose]?[generation], entry) {
        case (.opened(let old), _) where old.isAvailable: return
        // A second wrapping that cannot be opened, or another device's claim, does not replace an opened key.
        case (.opened, .damaged), (.opened, .foreign), (.opened, .ownerless): return
        case (.damaged, .foreign), (.damaged, .ownerless), (.foreign, .ownerless): return
        default: entries[purpose, default: [:]][generation] = entry
        }
    }
}

extension KeyTable {
    /// Opens all records that `keys` can open.
    ///
    /// - Parameters:
    ///   - device: The number of this device; nil if it has no record yet.
    ///   - devices: The numbers of all devices: no device can open the key of another number (R17).
    /// - Throws: `allocate`. Damaged records become `damaged` entries.
    init(
        records: [ClassKeyRecord], device: Int64?, of devices: Set<Int64>, hasPassphrase: Bool,
        keys: borrowing WrappingKeys
    ) throws(KeychainFault) {
        isDeviceKnown = device != nil
        self.hasPassphrase = hasPassphrase
        for record in records where record.isLegitimate {
            if record.device != 0, record.device != device {
                // Always keys have one wrapping per device; other devices' wrappings are irrelevant.
                guard record.purpose.isThisDeviceOnly else { continue }
                put(devices.contains(record.device) ? .foreign : .ownerless, record.purpose, record.generation)
            } else if record.purpose == .protection(.whenPasscodeSetThisDeviceOnly), !hasPassphrase {
                put(.withheld, record.purpose, record.generation)
            } else if keys.has(record.wrapping), !isOpened(record) {
                put(try Self.open(record, keys: keys), record.purpose, record.generation)
            }
        }
        mismatchedKeys = try Self.mismatchedKeys(among: records, keys: keys)
    }

    private static func mismatchedKeys(
        among records: [ClassKeyRecord], keys: borrowing WrappingKeys
    ) throws(KeychainFault) -> Set<ClassKeyRecord> {
        guard Set(records.map(\.identity)).count < records.count else { return [] }
        var mismatchedKeys: Set<ClassKeyRecord> = []
        for (identity, twins) in Dictionary(grouping: records, by: \.identity) where keys.has(identity.wrapping) {
            var closed: [ClassKeyRecord] = []
            for record in twins {
                if case .damaged = try open(record, keys: keys) { closed.append(record) }
            }
            if closed.count < twins.count { mismatchedKeys.formUnion(closed) }
        }
        return mismatchedKeys
    }

    private func isOpened(_ record: ClassKeyRecord) -> Bool {
        if case .opened = self[record.purpose, record.generation] { true } else { false }
    }

    private static func open(
        _ record: ClassKeyRecord, keys: borrowing WrappingKeys
    ) throws(KeychainFault) -> Entry {
        do throws(CryptoError) {
            let material = try keys.unwrap(record)
            return .opened(
                try ClassKeys(purpose: record.purpose, generation: record.generation, material: material))
        } catch {
            guard KeychainFault(error) == .decode else { throw KeychainFault(error) }
            return .damaged
        }
    }
}

extension KeyPurpose {
    var availability: ProtectionClass.Availability {
        switch self {
        case .protection(let protection): protection.availability
        case .alwaysLookup: .always
        }
    }

    /// Whether a generation exists for every user key. Of a device's own classes there is one only if the device has
    /// created it.
    var isRenewedWithUserKey: Bool { self != .alwaysLookup && !isThisDeviceOnly }

    var isThisDeviceOnly: Bool {
        switch self {
        case .protection(let protection): protection.isThisDeviceOnly
        case .alwaysLookup: false
        }
    }
}

extension ClassKeyRecord {
    /// The range of device numbers and generations: practically inexhaustible, and each can be incremented.
    static let numbers: Range<Int64> = 1..<1 << 32

    /// Whether the record has a form that this program writes.
    var isLegitimate: Bool {
        Self.numbers.contains(generation) && (purpose != .alwaysLookup || generation == 1)
            && purpose.wrappings.contains(wrapping)
            && (wrapping.isOfOneDevice ? Self.numbers.contains(device) : device == 0)
            && (wrapping == .deviceKey ? userKeyGeneration == 0 : Self.numbers.contains(userKeyGeneration))
    }
}
