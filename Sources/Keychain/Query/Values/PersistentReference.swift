/// The value of kSecReturnPersistentRef and kSecValuePersistentRef: the class, and 16 bytes that identify the item
/// during its lifetime.
package struct PersistentReference: Hashable, Sendable {
    /// The item class; nil for a class without items (``ItemClass/codesWithoutItems``).
    package let itemClass: ItemClass?
    /// ``Item/persistentReference``.
    package let identifier: [UInt8]

    private static let codeCount = 4

    init(_ itemClass: ItemClass, _ identifier: [UInt8]) {
        self.itemClass = itemClass
        self.identifier = identifier
    }

    /// Parses 20 bytes; nil for another form.
    init?(bytes: [UInt8]) {
        guard bytes.count == Self.codeCount + MetadataCodec.referenceCount else { return nil }
        let code = String(decoding: bytes.prefix(Self.codeCount), as: UTF8.self)
        itemClass = ItemClass.allCases.first { $0.code == code }
        guard itemClass != nil || ItemClass.codesWithoutItems.contains(code) else { return nil }
        identifier = Array(bytes.dropFirst(Self.codeCount))
    }

    /// 20 bytes.
    package var bytes: [UInt8] { Array((itemClass?.code ?? "").utf8) + identifier }
}
