import Foundation

/// Size, modification time and inode of a file: equal stamps mean that it was not written to.
struct FileStamp: Equatable {
    private let size: Int
    private let modified: Date?
    private let inode: Int?

    /// An empty file and a missing one have the same stamp: opening a keychain creates an empty log.
    init(_ path: String) {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        size = attributes?[.size] as? Int ?? 0
        modified = size == 0 ? nil : attributes?[.modificationDate] as? Date
        inode = size == 0 ? nil : attributes?[.systemFileNumber] as? Int
    }
}
