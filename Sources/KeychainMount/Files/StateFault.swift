import Keychain

/// The reason why this device could not save the state of a keychain, by which it detects an older copy (contract, S2).
package enum StateFault: String, Codable, Sendable {
    case diskFull = "disk-full"
    case error

    init(_ fault: KeychainFault) { self = fault == .diskFull ? .diskFull : .error }
}

extension CLIError {
    /// The error of a command that has completed its change, but not saved the state of this device.
    ///
    /// - Parameter change: The beginning of the message, such as `slot 2 is removed`.
    package init(_ fault: StateFault, after change: String) {
        let reason =
            switch fault {
            case .diskFull: "the disk is full"
            case .error: "its directory, or the file commit-number.* in it, cannot be written"
            }
        self.init(
            fault == .diskFull ? .diskFull : .failure,
            """
            \(change), but this device could not record it next to the device key: \(reason). Until it has recorded it, this device \
            accepts an older copy of the keychain, also from a holder of former slots or keys. Correct that, and mount the keychain; \
            a mounted one records it within a minute, and 'keychainfs status' warns until then.
            """)
    }
}
