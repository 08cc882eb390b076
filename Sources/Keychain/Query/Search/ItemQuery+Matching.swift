/// Matches items with a query: all of its terms must hold (reference 3.4). Divided by the parts of a row that must be
/// opened.
extension ItemQuery {
    private var comparison: AttributeComparison { AttributeComparison(isCaseInsensitive: match.isCaseInsensitive) }

    /// Whether a term refers to an attribute of the directory.
    var hasServiceTerm: Bool { match.host != nil || attributes.values.keys.contains { $0.isOfService } }

    /// Whether a term refers to an attribute of the item itself.
    var hasItemTerm: Bool {
        reference != nil || attributes.accessControl != nil || !match.subjects.isEmpty
            || attributes.values.keys.contains { !$0.isOfService && $0 != .accessGroup && $0 != .accessible }
    }

    /// Whether items of a container may match.
    func matches(_ container: ContainerKey) -> Bool {
        container.itemClass == itemClass && synchronizables.contains(container.isSynchronizable)
            && groups?.contains(container.accessGroup) ?? true
    }

    /// Whether items of a directory may match.
    func matches(_ service: ServiceKey) -> Bool {
        guard service.itemClass == itemClass, isHostAdmitted(service) else { return false }
        return attributes.values.allSatisfy { key, wanted in
            !key.isOfService || comparison.areEqual(wanted, service.value(of: key))
        }
    }

    /// Whether items of a protection class may match.
    func matches(_ protection: ProtectionClass) -> Bool { attributes.protection.map { $0 == protection } ?? true }

    /// Whether an item matches, regardless of its directory.
    func matches(_ item: Item) -> Bool {
        guard matches(item.protection), reference == nil || reference == item.persistentReference,
            attributes.accessControl.map({ $0.flags == item.accessControlFlags }) ?? true, isSubjectAdmitted(item)
        else { return false }
        return attributes.values.allSatisfy { key, wanted in
            key.isOfService || key == .accessGroup || key == .accessible
                || comparison.areEqual(wanted, item.value(of: key))
        }
    }

    /// Bytes that the metadata of every match contain, by which most items are excluded before they are decoded; nil if
    /// there are no such bytes.
    var trace: [UInt8]? {
        if let reference { return reference }
        guard !match.isCaseInsensitive else { return nil }
        let values = attributes.values.filter { $0.key == .account || $0.key.definition.role == .caller }
        let texts = values.compactMap(\.value.bytes) + match.subjects.values.map { Array($0.utf8) }
        return texts.max { $0.count < $1.count }
    }

    /// kSecMatchHostOrSubdomainOfHost: the server is the host, or ends in a dot and the host.
    private func isHostAdmitted(_ service: ServiceKey) -> Bool {
        guard let host = match.host else { return true }
        guard case .internet(let internet) = service, case .text(let server) = internet.server else { return false }
        return server == host || server.ends(with: [UInt8(ascii: ".")] + host)
    }

    private func isSubjectAdmitted(_ item: Item) -> Bool {
        guard !match.subjects.isEmpty else { return true }
        guard let label = item.attributes[.label]?.bytes else { return false }
        let subject = match.isCaseInsensitive ? AttributeComparison.folded(label) : label
        return match.subjects.allSatisfy { kind, wanted in
            let wanted = Array(match.isCaseInsensitive ? wanted.lowercased().utf8 : wanted.utf8)
            return kind.matches(subject, wanted)
        }
    }
}

extension MatchFilter.Subject {
    fileprivate func matches(_ subject: [UInt8], _ wanted: [UInt8]) -> Bool {
        switch self {
        case .entire: subject == wanted
        case .startsWith: subject.starts(with: wanted)
        case .endsWith: subject.ends(with: wanted)
        case .contains: subject.contains(wanted)
        }
    }
}

extension AttributeKey {
    /// Whether the attribute is part of a directory's name.
    var isOfService: Bool {
        switch self {
        case .service, .server, .securityDomain, .protocol, .authenticationType, .port, .path: true
        default: false
        }
    }
}

extension ServiceKey {
    /// Returns the value of an attribute, or the default if it is not set (reference 1.5, 1.6).
    func value(of key: AttributeKey) -> AttributeValue {
        self[key] ?? (key == .protocol || key == .port ? .number(0) : .text([]))
    }
}

extension Item {
    /// The flags of kSecAttrAccessControl; 0 without it.
    var accessControlFlags: Int64 {
        guard case .number(let flags)? = attributes[.accessControl] else { return 0 }
        return flags
    }

    /// Returns the value of an attribute of the item itself; nil if it is not set.
    func value(of key: AttributeKey) -> AttributeValue? {
        switch key {
        case .account: account
        case .creationDate: .date(creationDate)
        case .modificationDate: .date(modificationDate)
        // Deleted items do not exist any more, so no item is a tombstone.
        case .tombstone: .number(0)
        default: attributes[key]
        }
    }
}

extension [UInt8] {
    fileprivate func ends(with suffix: [UInt8]) -> Bool {
        count >= suffix.count && self.suffix(suffix.count) == suffix[...]
    }

    fileprivate func contains(_ part: [UInt8]) -> Bool {
        guard let first = part.first else { return true }
        guard count >= part.count else { return false }
        return indices.dropLast(part.count - 1).contains { index in
            self[index] == first && self[index...].starts(with: part)
        }
    }
}
