/// SHA-1 (FIPS 180-4), which libsodium does not have. Only for the HMAC of one-time codes (RFC 6238), which its collisions do not affect.
///
/// Block and message schedule contain key bytes, and are in locked memory.
struct SHA1: ~Copyable {
    static let blockSize = 64
    static let digestSize = 20

    private var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
    private var block: SecretBytes
    private var schedule: SecretBytes
    /// The number of bytes in the block, and of all bytes.
    private var filled = 0
    private var total: UInt64 = 0

    init() throws(CryptoError) {
        let block = try SecretBytes(count: Self.blockSize)
        let schedule = try SecretBytes(count: 80 * MemoryLayout<UInt32>.size)
        self.block = block
        self.schedule = schedule
    }

    mutating func update(_ bytes: RawSpan) {
        let octets = bytes.octets
        for index in octets.indices { append(octets[index]) }
        total += UInt64(octets.count)
    }

    /// Returns the digest.
    consuming func finish() throws(CryptoError) -> SecretBytes {
        let bits = total * 8
        append(0x80)
        while filled != Self.blockSize - 8 { append(0) }
        for shift in stride(from: 56, through: 0, by: -8) { append(UInt8(truncatingIfNeeded: bits >> UInt64(shift))) }
        var digest = try SecretBytes(count: Self.digestSize)
        var output = digest.mutableBytes
        for (index, word) in state.enumerated() {
            output.storeBytes(of: word.bigEndian, toByteOffset: 4 * index, as: UInt32.self)
        }
        return digest
    }

    private mutating func append(_ byte: UInt8) {
        block.set(byte, at: filled)
        filled += 1
        guard filled == Self.blockSize else { return }
        compress()
        filled = 0
    }

    private mutating func compress() {
        expand()
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for round in 0..<80 {
            let (mixed, constant): (UInt32, UInt32) =
                switch round {
                case 0..<20: (b & c | ~b & d, 0x5A82_7999)
                case 20..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case 40..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = Self.rotated(a, 5) &+ mixed &+ e &+ constant &+ word(round)
            (a, b, c, d, e) = (next, a, Self.rotated(b, 30), c, d)
        }
        for (index, value) in [a, b, c, d, e].enumerated() { state[index] &+= value }
    }

    /// Computes the message schedule of the block.
    private mutating func expand() {
        for index in 0..<16 {
            let word = unsafe block.bytes.unsafeLoad(fromByteOffset: 4 * index, as: UInt32.self)
            setWord(index, UInt32(bigEndian: word))
        }
        for index in 16..<80 {
            let mixed = word(index - 3) ^ word(index - 8) ^ word(index - 14) ^ word(index - 16)
            setWord(index, Self.rotated(mixed, 1))
        }
    }

    private func word(_ index: Int) -> UInt32 {
        unsafe schedule.bytes.unsafeLoad(fromByteOffset: 4 * index, as: UInt32.self)
    }

    private mutating func setWord(_ index: Int, _ value: UInt32) {
        var output = schedule.mutableBytes
        output.storeBytes(of: value, toByteOffset: 4 * index, as: UInt32.self)
    }

    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
}
