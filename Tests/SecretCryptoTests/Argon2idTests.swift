import SecretCrypto
import Testing

/// RFC 9106's vector has four lanes, a secret and data, which `crypto_pwhash` does not take. These come from the
/// reference program: `printf … | argon2 somesaltsomesalt -id -p 1 -v 13 -t … -k … -l …`.
@Suite struct Argon2idTests {
    private let passphrase = Array("correct horse battery staple".utf8)
    private let salt = Array("somesaltsomesalt".utf8)

    @Test("L5: agrees with the reference program, 3 passes over 64 MiB")
    func reference() throws {
        let cost = Argon2id.Cost(passes: 3, memory: 64 << 20)
        let derived = try Argon2id.derive(passphrase: secret(passphrase), salt: salt, cost: cost, count: 32)
        #expect(plain(derived) == hex("ff8d56b4e28e52e1e6d9d33c87ec881a6ba8473e135972dc4b56d0e027c1811a"))
    }

    @Test("L5: agrees with the reference program, 1 pass over 8 KiB, 64 bytes")
    func smallest() throws {
        let cost = Argon2id.Cost(passes: 1, memory: 8 << 10)
        let derived = try Argon2id.derive(passphrase: secret(passphrase), salt: salt, cost: cost, count: 64)
        let expected = hex(
            """
            2f9634fdc8b54b7a8067e3f1357661ca7914cdfa2ac5ddb107d27def47fc78a75441d5345ff8659e8d6af1effb4aba106751ae5f538bf4
            52b3081baf0a2b7d40
            """)
        #expect(plain(derived) == expected)
    }

    @Test("L5: 256 MiB and 3 passes is the floor; over 2 GiB or 10 passes is refused")
    func bounds() throws {
        #expect(Argon2id.Cost.moderate == Argon2id.Cost(passes: 3, memory: 268_435_456))
        #expect(Argon2id.Cost.sensitive == Argon2id.Cost(passes: 4, memory: 1_073_741_824))
        #expect(Argon2id.Cost.moderate.meetsFloor && Argon2id.Cost.sensitive.meetsFloor)
        #expect(!Argon2id.Cost(passes: 2, memory: 1 << 30).meetsFloor)
        #expect(!Argon2id.Cost(passes: 9, memory: 255 << 20).meetsFloor)
        #expect(Argon2id.Cost.maximum.isAcceptable)
        #expect(Argon2id.Cost(passes: 1, memory: 8192).isAcceptable)
        let refused: [(UInt64, UInt64)] = [
            (11, 1 << 20), (3, (2 << 30) + 1024), (0, 1 << 20), (1, 4096), (3, 8193), (.max, .max),
        ]
        for (passes, memory) in refused {
            let cost = Argon2id.Cost(passes: passes, memory: memory)
            #expect(!cost.isAcceptable)
            let passphrase = try secret(passphrase)
            #expect(throws: CryptoError.invalidParameter) {
                _ = try Argon2id.derive(passphrase: passphrase, salt: salt, cost: cost, count: 32)
            }
        }
    }

    @Test func refusesOtherSalts() throws {
        let passphrase = try secret(passphrase)
        let cost = Argon2id.Cost(passes: 1, memory: 8192)
        for salt in [[], Array(salt.dropLast()), salt + [0]] {
            #expect(throws: CryptoError.invalidParameter) {
                _ = try Argon2id.derive(passphrase: passphrase, salt: salt, cost: cost, count: 32)
            }
        }
    }

    @Test("L5: calibration only raises passes, and never beyond the accepted maximum")
    func calibration() {
        let floor = Argon2id.Cost(passes: 2, memory: 4 << 20)
        #expect(Argon2id.calibrated(from: floor, seconds: 0) == floor)
        #expect(Argon2id.calibrated(from: floor, seconds: 1000) == Argon2id.Cost(passes: 10, memory: 4 << 20))
        let refused = Argon2id.Cost(passes: 99, memory: 1)
        #expect(Argon2id.calibrated(from: refused, seconds: 1) == refused)
    }
}
