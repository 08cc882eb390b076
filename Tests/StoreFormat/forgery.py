"""Forged contents, as the holder of a removed slot makes them: other bytes for the same key, nonce, tag and associated data.

XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03, RFC 8439) authenticates a ciphertext by a polynomial. Who has the key chooses all
blocks of 16 bytes but one, and computes that one, so that the polynomial has the same value."""
import struct

import store_format as f

P, TOP = 2 ** 130 - 5, 2 ** 128
QUARTERS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15), (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))


def chacha_rounds(words):
    """The 20 rounds of ChaCha."""
    words = list(words)
    for a, b, c, d in QUARTERS * 10:
        for x, y, z, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            words[x] = (words[x] + words[y]) & 0xFFFFFFFF
            mixed = words[z] ^ words[x]
            words[z] = ((mixed << turn) | (mixed >> (32 - turn))) & 0xFFFFFFFF
    return words


def start(key, tail):
    return struct.unpack("<16I", b"expand 32-byte k" + key + tail)


def polynomial_key(key, nonce):
    """The number r of Poly1305 for a message with that nonce of 24 bytes."""
    mixed = chacha_rounds(start(key, nonce[:16]))
    words = start(struct.pack("<8I", *mixed[:4], *mixed[12:]), bytes(8) + nonce[16:])
    block = struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(chacha_rounds(words), words)))
    return int.from_bytes(block[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF


def forge(key, seal, ciphertext, ad, wishes, free):
    """Another ciphertext that opens under the seal. Its plaintext is one of the wishes, except for 16 bytes from `free` on."""
    plain = f.open_sealed(key, seal, ciphertext, ad, "R40", "the contents")
    r, last = polynomial_key(key, seal[:24]), (len(ciphertext) + 15) // 16
    for wish in wishes:
        assert len(wish) == len(plain) and free % 16 == 0 and free + 16 <= len(plain) and wish != plain
        made = bytearray(a ^ b ^ c for a, b, c in zip(ciphertext, plain, wish))
        made[free:free + 16] = ciphertext[free:free + 16]
        # The block of the lengths follows the last block of the ciphertext.
        changed = sum((number(made, n) - number(ciphertext, n)) * pow(r, last - n + 1, P) for n in range(last))
        block = (number(ciphertext, free // 16) + TOP - changed * pow(r, -(last - free // 16 + 1), P)) % P
        if TOP <= block < 2 * TOP:
            made[free:free + 16] = (block - TOP).to_bytes(16, "little")
            f.open_sealed(key, seal, bytes(made), ad, "R40", "the forged contents")
            return bytes(made)
    raise AssertionError("no wish can be made")


def number(data, block):
    return int.from_bytes(data[16 * block:16 * block + 16], "little")
