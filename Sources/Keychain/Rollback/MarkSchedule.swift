/// The time at which a device writes its mark (contract, S2): with the first change after an unlock, and after a lock or at the
/// end if anything was changed since. A session that only reads writes nothing: two devices that read copies of one store
/// must not make different ones of them.
struct MarkSchedule {
    /// The tag of the device, from the first unlock on.
    private let device: [UInt8]?
    /// Whether the device has a file in which it keeps the mark, so that sessions are marked.
    private var isActive = false
    /// Whether the next transaction is the first one after an unlock.
    private var isDue = false
    /// Whether the store was changed since the last mark.
    private(set) var isOutdated = false

    init(device: [UInt8]?) { self.device = device }

    /// Begins a session. The changes of the unlock itself are not part of it.
    mutating func begin() { (isActive, isDue) = (true, true) }

    /// Returns the tag of the device if a transaction writes its mark.
    ///
    /// - Parameter isRequired: Whether it does so regardless of the session.
    func device(isRequired: Bool) -> [UInt8]? { isDue || isRequired ? device : nil }

    /// Records a transaction. The end of the session writes a mark that the first change could not write, but does not try that
    /// again without a further change.
    mutating func didCommit(isMarked: Bool, isRequired: Bool) {
        isDue = false
        isOutdated = isActive && !isMarked && !isRequired
    }
}
