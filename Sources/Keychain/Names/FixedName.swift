/// The fixed names of directories above the item classes (contract, section 1).
package enum FixedName {
    package static let synchronizable = "synchronizable"
    package static let accessGroups = "access-groups"
    /// The directory of the control files.
    package static let control = ".keychainfs"
}
