/// The validated second argument of SecItemUpdate.
struct ItemUpdate: Hashable, Sendable {
    let attributes: AttributeTerms
    let hasData: Bool

    /// - Throws: `noSuchAttr` for an unknown attribute of the class; `param` for a value that it cannot represent;
    ///   `missingEntitlement` for a group of another client.
    init(
        _ dictionary: QueryDictionary, of itemClass: ItemClass, by client: QueryClient
    ) throws(SecurityStatus) {
        var attributes = AttributeTerms(itemClass)
        var data = ValueData.none
        for (key, value) in dictionary.sorted(by: { $0.key < $1.key }) {
            if key == QueryKey.data {
                data = ValueData(value)
            } else if AttributeTerms.isAttribute(key) {
                try attributes.add(key, value)
            } else {
                throw .noSuchAttr
            }
        }
        guard data != .invalid else { throw .param }
        try attributes.checkStored()
        try attributes.checkProtection()
        if let group = attributes.accessGroup { try client.checkWriting(group) }
        self.attributes = attributes
        hasData = data == .given
    }
}
