/// How rows are found: the parts that look-up tags are made of (contract, S2). Part of the store format.
extension KeyRing {
    /// The tag of the item of that account in a directory.
    ///
    /// - Parameter always: under the Always look-up key.
    package func itemTag(
        directory: RowID, account: AttributeValue, always: Bool = false
    ) throws(KeychainFault) -> [UInt8] {
        try itemTag(directory: directory, name: CanonicalName(account: account), always: always)
    }

    /// The same by its name: a name stands for one account, also one that had to be cut.
    package func itemTag(
        directory: RowID, name: CanonicalName, always: Bool = false
    ) throws(KeychainFault) -> [UInt8] {
        let parts = [Array("item".utf8), [UInt8](littleEndian: directory.rawValue), name.bytes]
        return try always ? alwaysTag(parts: parts) : lookupTag(parts: parts)
    }

    /// The tag of a container.
    package func containerTag(_ container: ContainerKey, always: Bool = false) throws(KeychainFault) -> [UInt8] {
        let parts = [Array("container".utf8)] + container.tagParts
        return try always ? alwaysTag(parts: parts) : lookupTag(parts: parts)
    }

    /// The tag of an access group, by its name.
    package func groupTag(_ name: CanonicalName, always: Bool = false) throws(KeychainFault) -> [UInt8] {
        let parts = [Array("group".utf8), name.bytes]
        return try always ? alwaysTag(parts: parts) : lookupTag(parts: parts)
    }

    /// The tag of a service directory in a container.
    package func directoryTag(
        _ service: ServiceKey, in container: ContainerKey, always: Bool = false
    ) throws(KeychainFault) -> [UInt8] {
        try directoryTag(CanonicalName(service: service), in: container, always: always)
    }

    /// The same by its name.
    package func directoryTag(
        _ name: CanonicalName, in container: ContainerKey, always: Bool = false
    ) throws(KeychainFault) -> [UInt8] {
        let parts = [Array("directory".utf8)] + container.tagParts + [name.bytes]
        return try always ? alwaysTag(parts: parts) : lookupTag(parts: parts)
    }
}

extension ContainerKey {
    fileprivate var tagParts: [[UInt8]] {
        [[itemClass.rawValue], accessGroup, [isSynchronizable ? 1 : 0]]
    }
}
