import FileSystemCore
package import SystemPackage

extension CLIError {
    /// Maps an error of an item's file to the exit code and the message of every command (contract, E18).
    ///
    /// - Parameters:
    ///   - item: The item as the user has named it, without effects on a terminal.
    ///   - consequence: For a change: a sentence about the state of the item. Nil for a read.
    package init(_ errno: Errno, item: String, consequence: String? = nil) {
        let unchanged = consequence.map { " " + $0 } ?? ""
        switch errno {
        case .noKey: self.init(.locked, "\(item) is locked. Unlock the keychain with 'keychainfs unlock'.")
        case .noSuchFileOrDirectory: self.init(.notFound, "There is no \(item). 'keychainfs search' finds items.")
        case .fileExists: self.init(.exists, "\(item) exists. To replace its secret, use --replace.")
        case .noSpace, .diskQuotaExceeded:
            self.init(.diskFull, "The disk with the keychain of \(item) is full, or a quota is exhausted.\(unchanged)")
        case .badMessage:
            self.init(.damaged, "\(item) is damaged. 'keychainfs check' reports all damage.\(unchanged)")
        case .readOnlyFileSystem:
            self.init(.readOnly, "The keychain of \(item), its mount or its disk is read-only.\(unchanged)")
        case .socketNotConnected, .connectionAbort:
            self.init(.notMounted, "The daemon of \(item) has ended. 'keychainfs mount' mounts the keychain again.")
        case .permissionDenied:
            self.init(
                .noPermission,
                "No permission for \(item): its mode, its owner or the owner of the mount prevents it.\(unchanged)")
        case _ where Self.impossible[errno] != nil:
            self.init(.impossible, "\(item) \(Self.impossible[errno] ?? "")\(unchanged)")
        case .operationNotSupportedByDevice:
            self.init(
                .failure,
                "The file of the keychain of \(item) was moved, removed or replaced. 'keychainfs status' shows it.")
        default:
            let access = consequence == nil ? "read" : "written"
            self.init(.failure, "\(item) cannot be \(access): \(errno).\(unchanged)")
        }
    }

    /// The reasons of `impossible`.
    private static let impossible: [Errno: String] = [
        .invalidArgument: "has a name, or a value of an attribute, that is not possible.",
        .illegalByteSequence: "has a name that is not UTF-8.",
        .fileNameTooLong: "has a name that is too long: SecItemAdd can create it, a path cannot.",
        .notPermitted: "is not possible there: an item is exactly one level below its service, SERVICE/NAME.",
        .improperLink: "cannot be moved to another item class.",
        .isDirectory: "is a directory, not an item.",
        .notDirectory: "is not possible: a part of its path is a file, not a directory.",
        .fileTooLarge: "cannot have a secret of that size: the limit is 1 MiB.",
        .argListTooLong: "cannot have attributes of more than 64 KiB.",
        .operationNotSupported: "has a class without such an attribute.",
    ]
}
