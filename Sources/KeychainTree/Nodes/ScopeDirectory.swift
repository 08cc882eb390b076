import FileSystemCore
import Keychain
import Synchronization

/// An access group as the nodes below it refer to it. Several objects may represent one group; all receive a new name.
final class AccessGroup: Sendable {
    /// The row; ``RowID/none`` for the default group, which the root of the mount shows.
    let row: RowID
    private let current: Mutex<[UInt8]>
    let removedAttributes = Remains()

    static let standard = AccessGroup(row: .none, name: ContainerKey.defaultAccessGroup)

    init(row: RowID, name: [UInt8]) {
        self.row = row
        current = Mutex(name)
    }

    /// kSecAttrAccessGroup, as UTF-8.
    var name: [UInt8] { current.withLock { $0 } }

    func rename(_ name: [UInt8]) {
        current.withLock { $0 = name }
    }
}

/// The directory of one item class: the part of an item's path before the service.
struct ClassDirectory: Sendable {
    let group: AccessGroup
    let itemClass: ItemClass
    let isSynchronizable: Bool

    /// The present key: the group may be renamed.
    var key: ContainerKey {
        ContainerKey(itemClass: itemClass, accessGroup: group.name, isSynchronizable: isSynchronizable)
    }
}

/// A directory above the service directories: the part of a path that represents access group, synchronizable and item
/// class.
enum ScopeDirectory: Sendable {
    /// The root of the mount or of a group, or the directory `synchronizable` in one of them.
    case scope(AccessGroup, isSynchronizable: Bool)
    /// The directory of all groups except the default one.
    case groups
    case classDirectory(ClassDirectory)

    static let root = ScopeDirectory.scope(.standard, isSynchronizable: false)

    /// The entries with fixed names, in the order of a listing.
    var children: [(name: EntryName, folder: ScopeDirectory)] {
        guard case .scope(let group, let isSynchronizable) = self else { return [] }
        var children = ItemClass.allCases.map { itemClass in
            let classDirectory = ClassDirectory(group: group, itemClass: itemClass, isSynchronizable: isSynchronizable)
            return (itemClass.folderName, ScopeDirectory.classDirectory(classDirectory))
        }
        if !isSynchronizable { children.append((FixedName.synchronizable, .scope(group, isSynchronizable: true))) }
        if isRoot { children.append((FixedName.accessGroups, .groups)) }
        return children.compactMap { name, folder in EntryName(name).map { ($0, folder) } }
    }

    /// The directory of `..`; the root's own is the root.
    var parent: ScopeDirectory {
        switch self {
        case .groups: .root
        case .classDirectory(let classDirectory):
            .scope(classDirectory.group, isSynchronizable: classDirectory.isSynchronizable)
        case .scope(let group, true): .scope(group, isSynchronizable: false)
        case .scope(let group, false): group.row == .none ? .root : .groups
        }
    }

    var isRoot: Bool {
        if case .scope(let group, false) = self { group.row == .none } else { false }
    }

    /// The row of the group that the directory represents; nil for all others, which have no row.
    var groupRow: RowID? {
        if case .scope(let group, false) = self, group.row != .none { group.row } else { nil }
    }

    /// The group whose rename affects the directory; nil if there is no such group.
    var group: AccessGroup? {
        switch self {
        case .scope(let group, _): group
        case .groups: nil
        case .classDirectory(let classDirectory): classDirectory.group
        }
    }

    /// The number of entries, for directories in which it never changes.
    var fixedCount: Int? {
        if case .scope = self { children.count } else { nil }
    }

    /// `st_ino`, constant across mounts and different from all row numbers.
    ///
    /// Numbers in the default group are below ``KeychainStore/firstRowID``. Numbers in another group are computed from its
    /// row, above all rows, 16 for each group, which leaves space for three more classes.
    var inode: InodeNumber {
        switch self {
        case .groups: InodeNumber(rawValue: 48)
        case .scope(let group, let isSynchronizable): Self.inode(group, isSynchronizable, 0)
        case .classDirectory(let classDirectory):
            Self.inode(classDirectory.group, classDirectory.isSynchronizable, classDirectory.itemClass.rawValue)
        }
    }

    private static func inode(_ group: AccessGroup, _ isSynchronizable: Bool, _ itemClass: UInt8) -> InodeNumber {
        let classNumber = UInt64(itemClass) + (isSynchronizable ? 8 : 0)
        guard group.row == .none else {
            let row = UInt64(group.row.rawValue)
            return InodeNumber(rawValue: classNumber == 0 ? row : 1 << 62 | row << 4 | classNumber)
        }
        return classNumber == 0 ? InodeNumber(rawValue: NodeID.root.rawValue) : InodeNumber(rawValue: 16 + classNumber)
    }
}
