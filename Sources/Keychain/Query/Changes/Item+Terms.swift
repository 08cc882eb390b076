extension Item {
    /// Sets what `attributes` say of the item itself; what the system keeps is not theirs to say (reference 3.10, 3.11).
    mutating func set(_ terms: AttributeTerms) {
        for (key, value) in terms.values where key.definition.role == .caller { attributes[key] = value }
        guard let protection = terms.protection else { return }
        self.protection = protection
        // A class alone asks for nothing more.
        let flags = terms.accessControl?.flags ?? 0
        attributes[.accessControl] = flags == 0 ? nil : .number(flags)
    }
}
