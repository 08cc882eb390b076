import Keychain
import KeychainConnection
import SecretCrypto
import SystemPackage

/// The slots of a mounted keychain, through its daemon: locked or not, the secret of a slot is its authority.
struct MountedSlots: SlotHost {
    private let client: MountClient
    let place: String

    init(mountPoint: String, owner: MountOwner) {
        self.init(MountClient(mountPoint: mountPoint, owner: owner), place: "the keychain at \(mountPoint)")
    }

    init(_ client: MountClient, place: String) {
        (self.client, self.place) = (client, place)
    }

    func list() throws(Failure) -> SlotListAnswer {
        let answer = try client.run(SlotRequest.list)
        guard let list = try? SlotListAnswer(json: answer) else { throw notUnderstood }
        return list
    }

    func verify(_ authority: borrowing UnlockSecret) throws(Failure) {
        _ = try run(.verify, by: authority, new: nil)
    }

    func run(
        _ request: SlotRequest, by authority: borrowing UnlockSecret, new: borrowing UnlockSecret?
    ) throws(Failure) -> SlotChangeAnswer? {
        var needsConsent = false
        let kind = authority.kind
        do throws(Failure) {
            let frames = try Self.frames(authority, new)
            let answer = try client.run(request.line, secret: frames.bytes) { errno in
                guard let error = KeychainFault(ofSlotCommand: errno) else { return nil }
                needsConsent = error == .slotRefused(.passcodeItems)
                return Failure(error, changingSlotsOf: place, with: kind)
            }
            guard let change = try? SlotChangeAnswer(json: answer) else { throw notUnderstood }
            return change
        } catch {
            guard needsConsent else { throw error }
            return nil
        }
    }

    private static func frames(
        _ authority: borrowing UnlockSecret, _ new: borrowing UnlockSecret?
    ) throws(Failure) -> UnlockFrames {
        do throws(CryptoError) {
            switch new {
            case .none: return try UnlockFrames(authority)
            case .some(let new): return try UnlockFrames(authority, new)
            }
        } catch {
            throw Failure(.failure, "There is no locked memory left for what unlocks the keychain.")
        }
    }

    private var notUnderstood: Failure {
        Failure(.failure, "The daemon of \(place) gave an answer that this version does not understand.")
    }
}
