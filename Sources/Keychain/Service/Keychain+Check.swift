import SecretCrypto

/// What verifying every row of a keychain found.
package struct CheckReport: Hashable, Sendable {
    package var directories = 0
    package var items = 0
    /// Rows that could not be opened because of the lock state.
    package var unavailable = 0
    /// Items that only another device can open; of them the digest alone tells whether they are as written.
    package var foreign = 0
    package var damagedDirectories: [RowID] = []
    package var damagedItems: [RowID] = []
    /// Items that were met, whatever their state.
    var visitedItems = 0
    /// Faults of the store's own structure, rows that lie in no directory among them.
    package var structureFaults = 0
    /// Rows that are gone, older than they should be, or were never committed.
    package var rowFault: IntegrityFault?
    /// Whether ``rowFault`` is known: before the first unlock it is not.
    package var areRowsVerified = false
    /// Names that editors leave behind (swap, backup and temporary files).
    package var leftovers: [String] = []

    package var isSound: Bool {
        damagedDirectories.isEmpty && damagedItems.isEmpty && structureFaults == 0 && rowFault == nil
    }
}

extension Keychain {
    private static let pageSize = 128

    /// Opens every row, decrypts every secret, and compares the rows with the digest. Changes nothing.
    package func check() throws(KeychainError) -> CheckReport {
        var report = CheckReport()
        report.structureFaults = try store.verifyStructure()
        try checkDirectories(in: .none, path: "", 0, &report)
        if keys.state.isAfterFirstUnlock {
            report.rowFault = try verifyRows()
            report.areRowsVerified = true
        }
        report.structureFaults += abs(try itemCount() - report.visitedItems)
        return report
    }

    /// Groups lie in nothing, containers in a group or in nothing, services in containers, nothing deeper: a row that leads
    /// in a circle is not followed.
    private func checkDirectories(
        in parent: RowID, path: String, _ depth: Int, _ report: inout CheckReport
    ) throws(KeychainError) {
        guard depth < 3 else { return }
        var after = RowID.none
        while true {
            let page = try directories(in: parent, after: after, limit: Self.pageSize)
            for entry in page {
                switch entry {
                case .damaged(let id):
                    report.damagedDirectories.append(id)
                    after = id
                    try checkContents(of: id, path: path + "?/", depth + 1, &report)
                case .unavailable(let id):
                    report.unavailable += 1
                    after = id
                    try checkContents(of: id, path: path + "?/", depth + 1, &report)
                case .foreign(let id): after = id
                case .available(let directory):
                    report.directories += 1
                    after = directory.id
                    if try !isSound(directory) { report.damagedDirectories.append(directory.id) }
                    try checkContents(of: directory.id, path: path + directory.pathComponent, depth + 1, &report)
                }
            }
            guard page.count == Self.pageSize else { return }
        }
    }

    private func checkContents(
        of id: RowID, path: String, _ depth: Int, _ report: inout CheckReport
    ) throws(KeychainError) {
        try checkDirectories(in: id, path: path, depth, &report)
        try checkItems(in: id, path: path, &report)
    }

    private func checkItems(in directory: RowID, path: String, _ report: inout CheckReport) throws(KeychainError) {
        var after = RowID.none
        while true {
            let page = try items(in: directory, after: after, limit: Self.pageSize)
            report.visitedItems += page.count
            for entry in page {
                switch entry {
                case .damaged(let id):
                    report.damagedItems.append(id)
                    after = id
                case .unavailable(let id):
                    report.unavailable += 1
                    after = id
                case .foreign(let id):
                    report.foreign += 1
                    after = id
                case .available(let item):
                    after = item.id
                    try checkItem(item, path: path, &report)
                }
            }
            guard page.count == Self.pageSize else { return }
        }
    }

    private func checkItem(_ item: Item, path: String, _ report: inout CheckReport) throws(KeychainError) {
        report.items += 1
        let name = String(decoding: CanonicalName(account: item.account).bytes, as: UTF8.self)
        if LeftoverName.matches(name) { report.leftovers.append(path + name) }
        do throws(KeychainError) {
            guard let secret = try itemWithSecret(id: item.id)?.secret else { return }
            try secret.verify()
        } catch .decode {
            report.damagedItems.append(item.id)
        }
    }
}

extension Keychain {
    /// Whether also that of a directory is what was sealed that only a mount before its first unlock opens.
    private func isSound(_ directory: Directory) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            try store.read { (reader) throws(KeychainError) in
                guard let record = try reader.directory(id: directory.id) else { return }
                try directoryEnvelope.verify(record)
            }
            return true
        } catch .decode {
            return false
        }
    }
}

extension Directory {
    /// Its part of a path, with the slash.
    var pathComponent: String {
        switch key {
        case .container(let key): (key.isSynchronizable ? "synchronizable/" : "") + key.itemClass.folderName + "/"
        case .group(let name):
            "access-groups/" + String(decoding: CanonicalName(accessGroup: name).bytes, as: UTF8.self) + "/"
        case .service(let key): String(decoding: CanonicalName(service: key).bytes, as: UTF8.self) + "/"
        }
    }
}

extension ItemClass {
    /// The directory of the class in the tree.
    package var folderName: String {
        switch self {
        case .genericPassword: "generic-passwords"
        case .internetPassword: "internet-passwords"
        }
    }
}

/// Names of the temporary files of common editors and tools.
enum LeftoverName {
    static func matches(_ name: String) -> Bool {
        let isSwap = name.hasPrefix(".") && [".swp", ".swo", ".swx"].contains { name.hasSuffix($0) }
        let isBackup = name.hasSuffix("~") && name.count > 1
        let isEmacs = name.hasPrefix("#") && name.hasSuffix("#") && name.count > 1
        let isNano = name.hasPrefix(".") && name.hasSuffix(".save")
        return isSwap || isBackup || isEmacs || isNano || name == "4913"
    }
}
