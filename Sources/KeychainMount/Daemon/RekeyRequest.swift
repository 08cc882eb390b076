import Keychain

/// The commands that start a rekey, followed by an unlock secret. The answer is a ``RekeyStartResult``.
enum RekeyRequest: String {
    case start = "rekey"
    /// Also if rows differ from the committed ones.
    case startAnyway = "rekey --yes"
}

/// Whether a rekey has started, as the daemon sends it.
struct RekeyStartResult: JSONText, Sendable {
    /// False if rows differ from the committed ones. Nothing was changed then.
    let isStarted: Bool
    /// The slots that were removed because their records are damaged or forged.
    let lostSlots: [Int64]

    init(_ start: RekeyStart) {
        switch start {
        case .started(let lostSlots): (isStarted, self.lostSlots) = (true, lostSlots)
        case .differs: (isStarted, lostSlots) = (false, [])
        }
    }
}
