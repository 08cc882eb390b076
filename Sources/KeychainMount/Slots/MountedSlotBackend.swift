import Keychain
import KeychainConnection
import SecretCrypto
import SystemPackage

/// The slots of a mounted keychain, through its daemon. The secret of a slot authorizes a change in any lock state.
struct MountedSlotBackend: SlotBackend {
    private let client: MountClient
    let keychainName: String

    init(mountPoint: String, owner: MountOwner) {
        self.init(MountClient(mountPoint: mountPoint, owner: owner), keychainName: "the keychain at \(mountPoint)")
    }

    init(_ client: MountClient, keychainName: String) {
        (self.client, self.keychainName) = (client, keychainName)
    }

    func list() throws(CLIError) -> SlotListResult {
        let result = try client.run(SlotRequest.list)
        guard let list = try? SlotListResult(json: result) else { throw notUnderstood }
        return list
    }

    func verify(_ authority: borrowing UnlockSecret) throws(CLIError) {
        _ = try run(.verify, by: authority, new: nil)
    }

    func run(
        _ request: SlotRequest, by authority: borrowing UnlockSecret, new: borrowing UnlockSecret?
    ) throws(CLIError) -> SlotChangeResult? {
        var needsConsent = false
        let kind = authority.kind
        do throws(CLIError) {
            let frames = try Self.frames(authority, new)
            let result = try client.run(request.line, secret: frames.bytes) { errno in
                guard let error = KeychainFault(ofSlotCommand: errno) else { return nil }
                needsConsent = error == .slotRefused(.passcodeItems)
                return CLIError(error, changingSlotsOf: keychainName, with: kind)
            }
            guard let change = try? SlotChangeResult(json: result) else { throw notUnderstood }
            return change
        } catch {
            guard needsConsent else { throw error }
            return nil
        }
    }

    private static func frames(
        _ authority: borrowing UnlockSecret, _ new: borrowing UnlockSecret?
    ) throws(CLIError) -> UnlockFrames {
        do throws(CryptoError) {
            switch new {
            case .none: return try UnlockFrames(authority)
            case .some(let new): return try UnlockFrames(authority, new)
            }
        } catch {
            throw CLIError(.failure, "There is no locked memory left for the unlock secret.")
        }
    }

    private var notUnderstood: CLIError {
        CLIError(.failure, "The daemon of \(keychainName) sent a response that this version does not understand.")
    }
}
