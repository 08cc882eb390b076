import SecretCrypto

/// The class keys that are at hand: a plain value, kept under the key ring's mutex.
struct KeyTable {
    enum Entry {
        /// Opened; a lock may have revoked it since.
        case opened(ClassKeys)
        /// Its record is not what was written.
        case damaged
        /// Another device's.
        case foreign
        /// Of a device number that has no device record: damaged, as no device can open it, and none of this device's own.
        case ownerless
        /// Of WhenPasscodeSetThisDeviceOnly, while no passphrase slot exists.
        case withheld

        /// Whether new rows can have it.
        var isOwn: Bool {
            switch self {
            case .opened, .damaged: true
            case .foreign, .ownerless, .withheld: false
            }
        }
    }

    private var entries: [KeyPurpose: [Int64: Entry]] = [:]
    /// A new user key comes with a new generation of every class that it wraps: where the newest is older than this, somebody
    /// has taken rows of keys out of the store, and whoever had a slot once may know what is left.
    var oldestCurrent: Int64 = 1
    /// Whether the store has a record of this device, and a passphrase slot: without them it lacks keys that it could have.
    private var isDeviceKnown = false
    private var hasPassphrase = true
    /// Records that do not open, while another one of the same place does: one changed byte makes such. Only a store whose
    /// rows were salvaged has two of a place.
    private(set) var mismatchedKeys: Set<ClassKeyRecord> = []

    subscript(purpose: KeyPurpose, generation: Int64) -> Entry? { entries[purpose]?[generation] }

    /// The newest generation that this device can have; nil if there is none.
    func current(_ purpose: KeyPurpose) -> Entry? {
        guard let newest = entries[purpose]?.filter({ $0.value.isOwn }).max(by: { $0.key < $1.key }) else { return nil }
        return purpose.isRenewedWithUserKey && newest.key < oldestCurrent ? .damaged : newest.value
    }

    /// Whether it is no damage that this device has no keys of its own for a purpose.
    func mayLack(_ purpose: KeyPurpose) -> Bool {
        guard purpose.isThisDeviceOnly else { return false }
        return !isDeviceKnown || purpose == .protection(.whenPasscodeSetThisDeviceOnly) && !hasPassphrase
    }

    /// The classes and generations that are another device's.
    var foreign: [(protection: ProtectionClass, generation: Int64)] {
        entries.flatMap { purpose, generations -> [(protection: ProtectionClass, generation: Int64)] in
            guard case .protection(let protection) = purpose else { return [] }
            return generations.compactMap { generation, entry in
                if case .foreign = entry { (protection, generation) } else { nil }
            }
        }
    }

    /// Whether there are keys that this device cannot have, in whatever state.
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

    /// What waits for a passphrase slot.
    var withheld: [(purpose: KeyPurpose, generation: Int64)] {
        entries.flatMap { purpose, generations in
            generations.compactMap { generation, entry in
                if case .withheld = entry { (purpose, generation) } else { nil }
            }
        }
    }

    /// Gives up keys that from now on wait for a passphrase slot; returns them, for the caller to revoke.
    mutating func withhold(_ places: [(purpose: KeyPurpose, generation: Int64)]) -> [ClassKeys] {
        var given: [ClassKeys] = []
        for (purpose, generation) in places {
            if case .opened(let keys) = entries[purpose]?[generation] { given.append(keys) }
            entries[purpose, default: [:]][generation] = .withheld
        }
        return given
    }

    /// Forgets generations; returns the keys of them that were opened.
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

    /// All opened keys whose class asks for it; the Always look-up keys count as Always.
    func opened(where condition: (ProtectionClass.Availability) -> Bool) -> [ClassKeys] {
        entries.values.flatMap(\.values).compactMap { entry in
            guard case .opened(let keys) = entry, condition(keys.purpose.availability) else { return nil }
            return keys
        }
    }

    /// Takes over what `other`, made with the user key, has; keys that are still usable stay, for those who hold them.
    ///
    /// But not if they are others: what only the device key authenticates gives way.
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

    mutating func put(_ entry: Entry, _ purpose: KeyPurpose, _ generation: Int64) {
        switch (entries[purpose]?[generation], entry) {
        case (.opened(let old), _) where old.isAvailable: return
        // A second wrapping that does not open, or a second device's claim, takes nothing away.
        case (.opened, .damaged), (.opened, .foreign), (.opened, .ownerless): return
        case (.damaged, .foreign), (.damaged, .ownerless), (.foreign, .ownerless): return
        default: entries[purpose, default: [:]][generation] = entry
        }
    }
}

extension KeyTable {
    /// Opens all records that `keys` opens.
    ///
    /// - Parameters:
    ///   - device: this device's number; nil if it has no record yet.
    ///   - devices: the numbers of all devices: no device can open the key of another number (R17).
    /// - Throws: `allocate`; records that are damaged become entries that say so.
    init(
        records: [ClassKeyRecord], device: Int64?, of devices: Set<Int64>, hasPassphrase: Bool,
        keys: borrowing WrappingKeys
    ) throws(KeychainFault) {
        isDeviceKnown = device != nil
        self.hasPassphrase = hasPassphrase
        for record in records where record.isLegitimate {
            if record.device != 0, record.device != device {
                // Always keys have a wrapping per device: that one's is nothing to this one.
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

    /// Whether there is a generation for every user key: of the device's own classes there is one for those alone that the
    /// device has made.
    var isRenewedWithUserKey: Bool { self != .alwaysLookup && !isThisDeviceOnly }

    var isThisDeviceOnly: Bool {
        switch self {
        case .protection(let protection): protection.isThisDeviceOnly
        case .alwaysLookup: false
        }
    }
}

extension ClassKeyRecord {
    /// What devices and generations are counted in: nobody comes to the end of it, and one more can be added to each.
    static let numbers: Range<Int64> = 1..<1 << 32

    /// Whether it is of a shape that this program writes.
    var isLegitimate: Bool {
        Self.numbers.contains(generation) && (purpose != .alwaysLookup || generation == 1)
            && purpose.wrappings.contains(wrapping)
            && (wrapping.isOfOneDevice ? Self.numbers.contains(device) : device == 0)
            && (wrapping == .deviceKey ? userKeyGeneration == 0 : Self.numbers.contains(userKeyGeneration))
    }
}
