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

    /// Returns the tag of a container.
    package func containerTag(_ container: ContainerKey, always: Bool = false) throws(KeychainFault) -> [UInt8] {
        let parts = [TagLabel.container] + container.tagParts
        return try always ? alwaysTag(parts: parts) : lookupTag(parts: parts)
    }

    /// Returns the tag of an access group, by its name.
    package func groupTag(_ name: CanonicalName, always: Bool = false) throws(KeychainFault) -> [UInt8] {
        let parts = [TagLabel.group, name.bytes]
        return try always ? alwaysTag(parts: parts) : lookupTag(parts: parts)
    }

    /// Returns the tag of a service directory in a container.
    package func directoryTag(
        _ service: ServiceKey, in container: ContainerKey, always: Bool = false
    ) throws(KeychainFault) -> [UInt8] {
        try directoryTag(CanonicalName(service: service), in: container, always: always)
    }

    /// Returns the tag of a service directory by its name.
    package func directoryTag(
        _ name: CanonicalName, in container: ContainerKey, always: Bool = false
    ) throws(KeychainFault) -> [UInt8] {
        let parts = [TagLabel.directory] + container.tagParts + [name.bytes]
        return try always ? alwaysTag(parts: parts) : lookupTag(parts: parts)
    }
}

/// The first part of each tag.
private enum TagLabel {
    static let item = Array("item".utf8)
    static let container = Array("container".utf8)
    static let group = Array("group".utf8)
    static let directory = Array("directory".utf8)
}

extension ContainerKey {
    fileprivate var tagParts: [[UInt8]] {
        [[itemClass.rawValue], accessGroup, [isSynchronizable ? 1 : 0]]
    }
}
