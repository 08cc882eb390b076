/// Keeps, outside the store, that a rekey is under way, so that it goes on after the program was ended in the middle: the
/// store's format has no place for it.
///
/// It is only a note of what somebody has asked for. Who removes it keeps items under old keys until a rekey is asked for
/// again; who makes one has items sealed anew.
package protocol RekeyStateStore: Sendable {
    /// The generation of the user key that the rekey of that store began with; nil if none is under way.
    func rekeyGeneration(of store: [UInt8]) -> Int64?
    /// Durable when it returns; nil: none is under way any more.
    func keep(rekeyGeneration: Int64?, of store: [UInt8]) throws(KeychainFault)
}
