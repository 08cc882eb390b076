extension Item {
    /// Sets the attributes of the item itself. Ignores those that the system maintains (reference 3.10, 3.11).
    mutating func set(_ terms: AttributeTerms) {
        for (key, value) in terms.values where key.definition.role == .caller { attributes[key] = value }
        guard let protection = terms.protection else { return }
        self.protection = protection
        // Without flags, an access control only names a class.
        let flags = terms.accessControl?.flags ?? 0
        attributes[.accessControl] = flags == 0 ? nil : .number(flags)
    }
}
