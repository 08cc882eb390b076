/// The lookup tags by which rows are found (contract, S2). Their parts belong to the store format.
extension KeyRing {
    /// Returns the tag of the item with an account in a directory.
    ///
    /// - Parameter always: Whether to use the Always lookup key.
    package func itemTag(
        directory: RowID, account: AttributeValue, always: Bool = false
    ) throws(KeychainFault) -> [UInt8] {
        try itemTag(directory: directory, name: CanonicalName(account: account), always: always)
    }

    /// Returns the tag of an item by its name, which represents one account, even if it is a cut name.
    package func itemTag(
        directory: RowID, name: CanonicalName, always: Bool = false
    ) throws(KeychainFault) -> [UInt8] {
        let parts = [TagLabel.item, [UInt8](littleEndian: directory.rawValue), name.bytes]
        return try always ? alwaysTag(parts: parts) : lookupTag(parts: parts)
    }

    /// Returns the tag of a directory.
    ///
    /// - Parameter parent: The row of the parent, or ``RowID/none``.
    package func directoryTag(
        _ name: DirectoryName, in parent: RowID, always: Bool = false
    ) throws(KeychainFault) -> [UInt8] {
        let parts = name.tagParts(in: [UInt8](littleEndian: parent.rawValue))
        return try always ? alwaysTag(parts: parts) : lookupTag(parts: parts)
    }
}

extension KeyRing {
    /// Returns the tags of a certificate or key, which its fields determine.
    package func itemKeys(of item: Item) throws(KeychainFault) -> [ItemKeyRecord] {
        var keys: [ItemKeyRecord] = []
        if let primaryKey = item.keyFields[.primaryKey] {
            let parts = [
                TagLabel.primaryKey, [UInt8](littleEndian: item.directory.rawValue),
                try AttributeList.comparable(primaryKey: primaryKey),
            ]
            keys.append(ItemKeyRecord(item: item.id, kind: 1, tag: try lookupTag(parts: parts)))
        }
        if let publicKey = item.keyFields[.publicKey] {
            let tag = try lookupTag(parts: [TagLabel.publicKey, publicKey])
            keys.append(ItemKeyRecord(item: item.id, kind: 2, tag: tag))
        }
        return keys
    }
}

/// The first part of each tag.
private enum TagLabel {
    static let item = Array("item".utf8)
    static let container = Array("container".utf8)
    static let group = Array("group".utf8)
    static let folder = Array("folder".utf8)
    static let server = Array("server".utf8)
    static let primaryKey = Array("primary key".utf8)
    static let publicKey = Array("public key".utf8)
}

extension DirectoryName {
    fileprivate func tagParts(in parent: [UInt8]) -> [[UInt8]] {
        switch self {
        case .container(let scope):
            [TagLabel.container, parent, [scope.itemClass.rawValue], [scope.isSynchronizable ? 1 : 0]]
        case .unsupported(let scope):
            [TagLabel.container, parent, [scope.itemClass.rawValue], [scope.isSynchronizable ? 1 : 0]]
        case .group(let name): [TagLabel.group, name.bytes]
        case .service(let name, .genericPassword): [TagLabel.folder, parent, name.bytes]
        case .service(let name, .internetPassword): [TagLabel.server, parent, name.bytes]
        }
    }
}
