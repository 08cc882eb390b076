/// A field that only certificates and keys have. Raw values are part of the store format.
package enum KeyField: UInt8, CaseIterable, Hashable, Sendable {
    /// The attributes of the primary key.
    case primaryKey = 10
    /// SHA-1 of the public key (20 bytes).
    case publicKey = 11

    /// The size in bytes; nil for any.
    var byteCount: Int? {
        switch self {
        case .primaryKey: nil
        case .publicKey: 20
        }
    }
}

extension Item {
    /// The fields of a certificate or key, which are a part of ``laterFields``, so that other items have no space for them.
    package var keyFields: [KeyField: [UInt8]] {
        get {
            laterFields.reduce(into: [:]) { fields, field in
                if let key = KeyField(rawValue: field.tag) { fields[key] = field.value }
            }
        }
        set {
            let keys = newValue.sorted { $0.key.rawValue < $1.key.rawValue }
            laterFields =
                keys.map { LaterField(tag: $0.key.rawValue, value: $0.value) }
                + laterFields.filter { KeyField(rawValue: $0.tag) == nil }
        }
    }
}

extension StoredItemClass {
    /// Whether an item of this class can have exactly these fields. An opaque file does not have any.
    func permits(_ fields: Set<KeyField>) -> Bool {
        switch self {
        case .certificate: fields.isEmpty || fields.count == KeyField.allCases.count
        case .key: fields.isEmpty || fields.contains(.primaryKey)
        case .genericPassword, .internetPassword, .template: fields.isEmpty
        }
    }
}
