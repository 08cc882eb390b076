/// The time at which a device writes its mark (contract, S2): with the first change after an unlock, and after a lock or at the
/// end if anything was changed since. A session that only reads writes nothing: two devices that read copies of one store
/// must not make different ones of them.
struct MarkSchedule {
    /// The tag of the device, from the first unlock on.
    private var device: [UInt8]?
    /// Whether the next transaction is the first one after an unlock.
    private var isDue = false
    /// Whether the store was changed since the last mark.
    private(set) var isOutdated = false

    /// Begins a session. The changes of the unlock itself are not part of it.
    mutating func begin(device: [UInt8]) {
        self.device = device
        isDue = true
    }

    /// Returns the tag of the device if a transaction writes its mark.
    ///
    /// - Parameter isEnd: Whether the transaction is the one at the end of the session.
    func device(isEnd: Bool) -> [UInt8]? { isDue || isEnd ? device : nil }

    /// Records a transaction. The end of the session writes a mark that the first change could not write, but does not try that
    /// again without a further change.
    mutating func didCommit(isMarked: Bool, isEnd: Bool) {
        isDue = false
        isOutdated = device != nil && !isMarked && !isEnd
    }
}
