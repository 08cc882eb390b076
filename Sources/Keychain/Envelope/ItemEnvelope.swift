import SecretCrypto

/// Seals items into rows and opens them (contract, S2, S3, S4).
///
/// Opening a row returns exactly the sealed item or fails: `decode` for a row that was changed, exchanged, moved or
/// mixed; `interactionNotAllowed` for one whose keys are locked or another device's. The caller assigns versions:
/// sealing increments nothing.
package struct ItemEnvelope: Sendable {
    package let ring: KeyRing

    package init(ring: KeyRing) {
        self.ring = ring
    }

    /// Seals an item with its secret, under the newest generation of its class.
    ///
    /// - Throws: `interactionNotAllowed`, `attributesTooLarge`, `allocate`; `param` if the item's `secretCount` differs
    ///   from the source's; the error of the source.
    package func seal(
        _ item: Item, secret source: borrowing some SecretSource & ~Copyable & ~Escapable
    ) throws(KeychainFault) -> (record: ItemRecord, secret: [UInt8]) {
        guard item.secretCount == source.secretCount else { throw .param }
        do throws(KeychainFault) {
            return try seal(item, secret: source, keys: RowKeys.sealing(item.protection, ring: ring))
        } catch .interactionNotAllowed where item.protection == .whenUnlockedUnlessOpen {
            // The keychain was locked in the meantime: the item now counts as added while locked.
            return try seal(item, secret: source, keys: RowKeys.sealing(item.protection, ring: ring))
        }
    }

    private func seal(
        _ item: Item, secret source: borrowing some SecretSource & ~Copyable & ~Escapable, keys: RowKeys
    ) throws(KeychainFault) -> (record: ItemRecord, secret: [UInt8]) {
        let bound = RowAssociatedData(item, generation: keys.generation, store: ring.storeID)
            .secret(version: item.secretVersion)
        let sealed = try SecretChunks.seal(source, key: keys.secretKey(bound), bound: bound)
        return (try seal(item, seals: sealed.seals, keys: keys), sealed.ciphertext)
    }

    /// Seals an item whose secret stays unchanged in the store, or that has no secret.
    ///
    /// - Parameter record: The row before the change. It must have the same directory and class, because a secret that
    ///   moves must be resealed. Nil, or a row with a secret, if the item has no secret.
    /// - Throws: The errors of `seal(_:secret:)`; `param` if the secret cannot stay.
    package func seal(_ item: Item, keeping record: ItemRecord?) throws(KeychainFault) -> ItemRecord {
        guard item.secretCount != nil else {
            return try seal(item, seals: ChunkSeals(), keys: RowKeys.sealing(item.protection, ring: ring))
        }
        guard let record, record.id == item.id, record.directory == item.directory,
            record.protection == item.protection,
            record.secretSeals.count == SecretChunks.count(for: item.secretCount)
        else { throw .param }
        try record.verifyRow(ring: ring)
        var sealed = try seal(item, seals: record.secretSeals, keys: RowKeys.opening(record, ring: ring))
        sealed.secretRow = record.secretRow
        return sealed
    }

    /// Opens a row.
    package func open(_ record: ItemRecord) throws(KeychainFault) -> Item {
        let plaintext = try plaintext(of: record)
        let item = try item(of: plaintext.bytes, record)
        try verifyTag(of: item, record)
        return item
    }

    /// Opens a row that was found by the tag of a name, without computing the tag again.
    ///
    /// - Throws: `decode` also for a row of another name or directory.
    func open(
        _ record: ItemRecord, named name: CanonicalName, in directory: RowID
    ) throws(KeychainFault) -> Item {
        let plaintext = try plaintext(of: record)
        let item = try item(of: plaintext.bytes, record)
        guard record.directory == directory, CanonicalName(account: item.account) == name else { throw .decode }
        return item
    }

    /// Opens a row if its metadata contains `bytes`; otherwise returns nil without decoding an item.
    package func open(_ record: ItemRecord, containing bytes: [UInt8]) throws(KeychainFault) -> Item? {
        let plaintext = try plaintext(of: record)
        guard plaintext.bytes.contains(bytes) else { return nil }
        let item = try item(of: plaintext.bytes, record)
        try verifyTag(of: item, record)
        return item
    }

    /// Returns the padded metadata of a row.
    private func plaintext(of record: ItemRecord) throws(KeychainFault) -> SecretBytes {
        let keys = try keys(of: record)
        guard record.id < .limit, (record.alwaysTag != nil) == (record.protection.availability == .always) else {
            throw .decode
        }
        let bound = RowAssociatedData(record, store: ring.storeID)
            .metadata(
                version: record.version, tag: record.tag, alwaysTag: record.alwaysTag,
                secretSeals: record.secretSeals)
        return try keys.metadataKey(bound).using { (key) throws(CryptoError) in
            try record.metadata.openPadded(key: key, bound: bound)
        }
    }

    private func item(of plaintext: RawSpan, _ record: ItemRecord) throws(KeychainFault) -> Item {
        let item = try MetadataCodec.decode(
            plaintext, id: record.id, directory: record.directory, version: record.version,
            protection: record.protection)
        guard record.secretSeals.count == SecretChunks.count(for: item.secretCount) else { throw .decode }
        return item
    }

    /// Requires that a row found by its lookup tag has the requested name. An attacker who once knew the class key can
    /// seal another name with a valid tag.
    private func verifyTag(of item: Item, _ record: ItemRecord) throws(KeychainFault) {
        let always = !ring.state.isAfterFirstUnlock
        let tag = try ring.itemTag(directory: item.directory, account: item.account, always: always)
        guard tag == (always ? record.alwaysTag : record.tag) else { throw .decode }
    }

    /// Returns the secret of an item for reading in parts. Decrypts nothing yet.
    ///
    /// - Parameter item: The opened row, which contains size and version of the secret.
    /// - Throws: `itemNotFound` if the item has no secret; the errors of ``open(_:)``.
    package func secret(
        of item: Item, record: ItemRecord, ciphertext: [UInt8]
    ) throws(KeychainFault) -> SealedSecret {
        guard let count = item.secretCount else { throw .itemNotFound }
        let keys = try keys(of: record)
        let bound = RowAssociatedData(record, store: ring.storeID).secret(version: item.secretVersion)
        return try SealedSecret(
            count: count, ciphertext: ciphertext, seals: record.secretSeals, bound: bound,
            key: keys.secretKey(bound))
    }

    /// Verifies a row with its secret, as far as its keys are available.
    ///
    /// - Returns: The item; nil if it is under keys that are another device's or withheld: then only the MAC of an Always item
    ///   and the hashes of the secret are verified.
    /// - Throws: `decode` if a part is not authentic.
    func verify(_ record: ItemRecord, ciphertext: [UInt8]) throws(KeychainFault) -> Item? {
        if ring.isForeign(record.protection, generation: record.generation) {
            try record.verifyRow(ring: ring)
            try SecretChunks.verify(ciphertext, record.secretSeals)
            return nil
        }
        do throws(KeychainFault) {
            let item = try open(record)
            if item.secretCount != nil { try secret(of: item, record: record, ciphertext: ciphertext).verify() }
            return item
        } catch .interactionNotAllowed {
            try SecretChunks.verify(ciphertext, record.secretSeals)
            return nil
        }
    }

    /// Reseals a row that was sealed while locked under the class keys, with the next version. Called after an unlock
    /// for each row with an `ephemeral`.
    ///
    /// - Returns: The row, and its new ciphertext (nil for an item without a secret).
    package func reseal(
        _ record: ItemRecord, ciphertext: [UInt8]
    ) throws(KeychainFault) -> (record: ItemRecord, secret: [UInt8]?) {
        var item = try open(record)
        item.version &+= 1
        guard item.secretCount != nil else { return (try seal(item, keeping: nil), nil) }
        let source = try secret(of: item, record: record, ciphertext: ciphertext)
        item.secretVersion = item.version
        let sealed = try seal(item, secret: source)
        return (sealed.record, sealed.secret)
    }

    /// Reseals a row with its secret under the newest keys of its class. Item and version stay the same.
    ///
    /// - Returns: The row, and its new ciphertext (nil for an item without a secret).
    /// - Throws: `decode` if a part of it is not authentic; `interactionNotAllowed` if its class is locked.
    package func renew(
        _ record: ItemRecord, ciphertext: [UInt8]
    ) throws(KeychainFault) -> (record: ItemRecord, secret: [UInt8]?) {
        let item = try open(record)
        guard item.secretCount != nil else { return (try sealUnlocked(item, secret: nil).record, nil) }
        let source = try secret(of: item, record: record, ciphertext: ciphertext)
        return try sealUnlocked(item, secret: source)
    }

    /// Seals an item under the class keys only: a lock in the meantime does not turn it into an item added while
    /// locked.
    private func sealUnlocked(
        _ item: Item, secret: SealedSecret?
    ) throws(KeychainFault) -> (record: ItemRecord, secret: [UInt8]?) {
        let keys = try RowKeys.sealing(item.protection, ring: ring)
        guard keys.exchange == nil else { throw .interactionNotAllowed }
        guard let secret else { return (try seal(item, seals: ChunkSeals(), keys: keys), nil) }
        let sealed = try seal(item, secret: secret, keys: keys)
        return (sealed.record, sealed.secret)
    }

    /// Computes the MAC of an Always item with the newest master keys. Needs no class key, which may be another device's, and
    /// not the secret.
    ///
    /// - Throws: `decode` if the row is not authentic, or has no MAC.
    func renewMAC(_ record: ItemRecord) throws(KeychainFault) -> ItemRecord {
        guard record.mac != nil else { throw .decode }
        try record.verifyRow(ring: ring)
        var renewed = record
        try renewed.authenticate(master: ring.masterKeys(), store: ring.storeID)
        return renewed
    }
}

extension ItemEnvelope {
    private func keys(of record: ItemRecord) throws(KeychainFault) -> RowKeys {
        try record.verifyRow(ring: ring)
        return try RowKeys.opening(record, ring: ring)
    }

    /// Returns the row for a secret that has been sealed already.
    private func seal(
        _ item: Item, seals: ChunkSeals, keys: RowKeys
    ) throws(KeychainFault) -> ItemRecord {
        let tag = try ring.itemTag(directory: item.directory, account: item.account)
        var alwaysTag: [UInt8]?
        if item.protection.availability == .always {
            alwaysTag = try ring.itemTag(directory: item.directory, account: item.account, always: true)
        }
        let bound = RowAssociatedData(item, generation: keys.generation, store: ring.storeID)
            .metadata(version: item.version, tag: tag, alwaysTag: alwaysTag, secretSeals: seals)
        let plaintext = try MetadataCodec.encode(item)
        let metadata = try keys.metadataKey(bound).using { (key) throws(CryptoError) in
            try Sealed.sealing(plaintext.bytes, key: key, bound: bound)
        }
        var record = ItemRecord(
            id: item.id, directory: item.directory, version: item.version, protection: item.protection,
            generation: keys.generation, masterKeyGeneration: keys.exchange?.masterGeneration, tag: tag,
            alwaysTag: alwaysTag, ephemeral: keys.exchange?.ephemeral, mac: nil, metadata: metadata,
            secretSeals: seals)
        if alwaysTag != nil { try record.authenticate(master: ring.masterKeys(), store: ring.storeID) }
        return record
    }
}
