import KeychainRPC
import SecretCrypto
import Testing

@Suite("Frames of a response")
struct ResponseFrameTests {
    private func secrets(_ bytes: [UInt8]) throws -> SecretBytes { try SecretBytes(copying: bytes.rawSpan) }

    private func bytes(of index: Int, in frame: borrowing ResponseFrame) -> [UInt8]? {
        guard let secret = frame.secret(index) else { return nil }
        return [UInt8](copying: secret)
    }

    @Test("secrets are split by their sizes; an index beyond them returns nil")
    func cuts() throws {
        let frame = try ResponseFrame(
            entries: [.secret(0), .secret(1)], isLast: true, secrets: secrets([1, 2, 3]), counts: [2, 0, 1])
        var found: [[UInt8]?] = []
        for index in -1...3 { found.append(bytes(of: index, in: frame)) }
        #expect(found == [nil, [1, 2], [], [3], nil])
        #expect(frame.secretCount == 3)
    }

    @Test("an empty secret needs no bytes")
    func empty() throws {
        let frame = try ResponseFrame(entries: [.secret(0)], isLast: true, counts: [0])
        #expect(bytes(of: 0, in: frame) == [])
        #expect(bytes(of: 1, in: frame) == nil)
    }

    @Test("counts that are not those of the bytes", arguments: [[2], [4], [], [-1, 4], [Int.max, Int.max], [3, 1]])
    func counts(_ counts: [Int]) throws {
        #expect(throws: FrameError.malformed) {
            _ = try ResponseFrame(entries: [], isLast: true, secrets: secrets([1, 2, 3]), counts: counts)
        }
    }

    @Test("an access control is encoded as a separate dictionary")
    func accessControl() {
        let control = PropertyList.accessControl(protection: "ak", flags: 16)
        #expect(control.accessControl?.protection == "ak" && control.accessControl?.flags == 16)
        for other: PropertyList in [.null, .dictionary([:]), .dictionary(["$accessControl": .null])] {
            #expect(other.accessControl == nil)
        }
    }
}
