"""Store format 2 of keychainfs: primitives, codecs, names and digests.

Written from docs/store-format.md alone; each part names its section of that page. Accesses no file. Violations of a
rule raise Refused with the rule's number; invalid input raises nothing else."""
import hashlib
import json
import struct

import nacl.bindings as sodium
import nacl.exceptions

SEAL, KEY, TAG, CHUNK = 40, 32, 16, 65536
CHUNK_SEAL = SEAL + 32  # the seal of a chunk of contents, with the hash of its ciphertext
LIST_LIMIT, METADATA_LIMIT = 122_880, 124_928
# The longest column of a row of keys, and of another row.
KEY_LIMIT, COLUMN_LIMIT = 4096, 8192 * CHUNK_SEAL
CONTENTS_LIMIT, ATTRIBUTES_LIMIT, ROW_ID_LIMIT, FIRST_ROW = 2 ** 29, 65_536, 2 ** 62, 100
FORMAT, APPLICATION_ID = 2, 0x4B434653
# The longest ciphertext of contents in the item's own row.
LONGEST_SHORT = 1024
LATER = 128  # the first number of fields and attributes that readers keep without knowing them
FOLDER_NAME = 254  # bytes of the name of a service of class 1
ALWAYS_LOOKUP = 32
ITEM_CLASSES = {1: b"generic-passwords", 2: b"internet-passwords", 3: b"certificates", 4: b"keys", 16: b"templates"}
CLASSES = {2: "WhenUnlockedUnlessOpen", 6: "WhenUnlocked", 7: "AfterFirstUnlock", 8: "Always",
           9: "WhenUnlockedThisDeviceOnly", 10: "AfterFirstUnlockThisDeviceOnly", 11: "AlwaysThisDeviceOnly",
           12: "WhenPasscodeSetThisDeviceOnly"}
ALWAYS_CLASSES, DEVICE_CLASSES = (8, 11), (9, 10, 11, 12)
WRAPPINGS = {2: (1,), 6: (1,), 7: (1,), 8: (1, 2), 9: (3,), 10: (3,), 11: (2,), 12: (3,), ALWAYS_LOOKUP: (1, 2)}
SCHEMA_HASH = "d8445291b5d69fa60bfbe05d321927ddcea9f0e1f8e8ba2d5cc66158bd8dea3c"


class Refused(Exception):
    """Something that a reader refuses: the number of the rule, and why."""

    def __init__(self, rule, why):
        super().__init__(f"{rule} {why}")
        self.rule, self.why = rule, why


def demand(condition, rule, why):
    """Refuses unless the condition holds."""
    if not condition:
        raise Refused(rule, why)


# Section 1: numbers, parts and primitives.

def u8(n):
    return struct.pack("<B", n)


def u32(n):
    return struct.pack("<I", n)


def u64(n):
    return struct.pack("<Q", n)


def i64(n):
    return struct.pack("<q", n)


def number(data):
    """The i64 in 8 bytes."""
    return struct.unpack("<q", data)[0]


def part(data):
    """One part of associated data, a row MAC or a row digest; None is NULL."""
    return b"\xff" * 4 if data is None else u32(len(data)) + data


def H(key, *parts, size=KEY):
    """Keyed BLAKE2b over counted parts."""
    state = hashlib.blake2b(digest_size=size, key=key)
    for each in parts:
        state.update(u64(len(each)) + each)
    return state.digest()


def blake2b(data, size):
    """Unkeyed BLAKE2b."""
    return hashlib.blake2b(data, digest_size=size).digest()


def argon2id(passphrase, salt, passes, memory):
    """The root of a passphrase slot; memory in bytes."""
    try:
        return sodium.crypto_pwhash_alg(KEY, passphrase, salt, passes, memory, sodium.crypto_pwhash_ALG_ARGON2ID13)
    except (nacl.exceptions.CryptoError, RuntimeError, MemoryError):
        raise Refused("R9", "Argon2id fails: too little memory here") from None


BASE32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def recovery_root(typed, store):
    """The root of a recovery key's slot, from the key as the user has typed it: R47."""
    text = typed.decode("latin-1").translate({ord(c): None for c in "- \t\n\v\f\r"}).upper()
    text = text.translate({ord("O"): "0", ord("I"): "1", ord("L"): "1"})
    demand(len(text) == 36, "R47", f"{len(text)} characters, not 36")
    demand(all(c in BASE32 for c in text), "R47", "a character that is none of base32")
    groups = [text[n:n + 6] for n in range(0, 36, 6)]
    for number_of_group, group in enumerate(groups, 1):
        values = [BASE32.index(c) for c in group]
        demand(values[5] == check_value(values[:5], number_of_group), "R47", f"group {number_of_group} is mistyped")
    return H(store, b"keychainfs recovery key", "".join(group[:5] for group in groups).encode())


def check_value(values, number_of_group):
    """The value of a group's check character: a sum of multiples in GF(32)."""
    total = number_of_group
    for power, value in zip((5, 4, 3, 2, 1), values):
        for _ in range(power):
            value = value << 1 if value < 16 else (value << 1) ^ 0b100101
        total ^= value
    return total


def two_secrets_root(passphrase_root, contents, store):
    """The root of a slot of a passphrase and a key file: R48."""
    demand(32 <= len(contents) <= 65536, "R48", "a key file of another size")
    return H(passphrase_root, b"keychainfs two secrets", store, contents)


def key_file_root(contents, store):
    """The root of a key file's slot: R48."""
    demand(32 <= len(contents) <= 65536, "R48", f"a key file of {len(contents)} bytes")
    return H(store, b"keychainfs key file", contents)


def x25519(secret, public, rule):
    """The shared secret, refused by the given rule."""
    demand(len(public) == KEY, rule, "a public key is not 32 bytes")
    try:
        return sodium.crypto_scalarmult(secret, public)
    except (nacl.exceptions.CryptoError, RuntimeError):
        raise Refused(rule, "a public key gives an all-zero shared secret") from None


def public_key(secret):
    return sodium.crypto_scalarmult_base(secret)


def seal(key, nonce, plaintext, ad):
    """Seals; gives the seal (nonce and tag) and the ciphertext."""
    sealed = sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(plaintext, ad, nonce, key)
    return nonce + sealed[len(plaintext):], sealed[:len(plaintext)]


def open_sealed(key, sealed, ciphertext, ad, rule, what):
    """The plaintext, or a refusal by the given rule."""
    demand(len(sealed) == SEAL, rule, f"the seal of {what} is not 40 bytes")
    try:
        return sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(ciphertext + sealed[24:], ad, sealed[:24], key)
    except nacl.exceptions.CryptoError:
        raise Refused(rule, f"{what} does not open") from None


def ad(field, store):
    """The beginning of all associated data."""
    return u8(field) + part(store)


def padded(n):
    """How many bytes n bytes are padded to."""
    if n <= 1024:
        return max(64, (n + 63) // 64 * 64)
    exponent = n.bit_length() - 1
    mask = 2 ** (exponent - exponent.bit_length()) - 1
    return (n + mask) & ~mask


def pad(data):
    return data.ljust(padded(len(data)), b"\0")


def chunk_count(n):
    """How many chunks, and so seals, contents of n bytes have."""
    return -(-padded(n) // CHUNK)


def chunks_of(data, size=CHUNK):
    """The pieces of that size; the last one may be shorter."""
    return [data[n:n + size] for n in range(0, len(data), size)]


def seal_contents(key, contents, data, nonce):
    """The seals and the ciphertext of contents; nonce makes nonces of a number of bytes."""
    chunks = chunks_of(pad(contents))
    sealed = [seal(key, nonce(24), each, data + i64(n) + i64(len(chunks))) for n, each in enumerate(chunks)]
    return b"".join(head + chunk_hash(text) for head, text in sealed), b"".join(text for _, text in sealed)


def chunk_hash(ciphertext):
    return hashlib.blake2b(ciphertext, digest_size=32).digest()


def verified_chunks(seals, ciphertext):
    """The seals and the chunks of a ciphertext, which have the hashes in the seals: R40. Needs no key."""
    seals, chunks = chunks_of(seals, CHUNK_SEAL), chunks_of(ciphertext)
    demand(len(seals) == len(chunks), "R40", "a ciphertext of another size")
    for number, (head, chunk) in enumerate(zip(seals, chunks)):
        demand(chunk_hash(chunk) == head[SEAL:], "R40", f"chunk {number} has another hash")
    return list(zip(seals, chunks))


def is_text(data):
    """Whether the bytes are well-formed UTF-8 (Python's strict decoder is table 3-7)."""
    try:
        data.decode("utf-8")
        return True
    except UnicodeDecodeError:
        return False


# Section 5: padded field lists and values.

def write_list(fields, version=1, least=0):
    """The padded plaintext of fields, a list of (tag, value)."""
    body = u8(version) + b"".join(u8(tag) + u32(len(value)) + value for tag, value in fields)
    return pad(u32(len(body)) + body).ljust(least, b"\0")


def read_list(plaintext, known, required, least=0):
    """The fields of a padded list by tag, at least of a size: R20, R21."""
    demand(len(plaintext) >= 4, "R20", "no room for the count of the list")
    count = struct.unpack("<I", plaintext[:4])[0]
    demand(count <= LIST_LIMIT, "R20", "the list is too long")
    demand(max(least, padded(4 + count)) == len(plaintext), "R20", "the count does not fit the padded size")
    demand(not any(plaintext[4 + count:]), "R20", "the padding is not zeros")
    body, fields, last = plaintext[4:4 + count], {}, -1
    demand(body[:1] == b"\x01", "R21", "unknown version of the list")
    for head, value in read_counted(body[1:], 1, "R21"):
        tag = head[0]
        demand(tag > last, "R21", f"field {tag} after field {last}")
        demand(tag in known or tag >= LATER, "R21", f"unknown field {tag}")
        fields[tag], last = value, tag
    for tag in required:
        demand(tag in fields, "R21", f"field {tag} is missing")
    return fields


def later_fields(fields):
    return [(tag, value) for tag, value in fields.items() if tag >= LATER]


def read_counted(data, head, rule):
    """Pieces of: some bytes of head, a count, and as many bytes."""
    pieces, at = [], 0
    while at < len(data):
        start = at + head + 4
        demand(start <= len(data), rule, "a count runs over the end")
        end = start + struct.unpack("<I", data[start - 4:start])[0]
        demand(end <= len(data), rule, "a value runs over the end")
        pieces.append((data[at:at + head], data[start:end]))
        at = end
    return pieces


def sized(data, count, rule, what):
    """The data, refused if it is not count bytes."""
    demand(len(data) == count, rule, f"{what} is not {count} bytes")
    return data


def padded_size(ciphertext, rule):
    """Refuses a ciphertext of metadata whose size no plaintext has: R7."""
    demand(64 <= len(ciphertext) <= METADATA_LIMIT, rule, "a size out of range (R7)")


def read_date(data, rule="R21"):
    """A date as (seconds, nanoseconds)."""
    seconds, nanoseconds = struct.unpack("<qI", sized(data, 12, rule, "a date"))
    demand(nanoseconds <= 999_999_999, "R22", "nanoseconds out of range")
    return seconds, nanoseconds


def write_date(date):
    return i64(date[0]) + u32(date[1])


def read_facts(data):
    """File facts."""
    inode, permissions, user, group = struct.unpack("<QIII", sized(data, 44, "R21", "the file facts")[:20])
    demand(permissions & ~0o7777 == 0, "R22", "permissions with other bits")
    return {"inode": inode, "permissions": permissions, "user": user, "group": group,
            "mtime": read_date(data[20:32]), "atime": read_date(data[32:44])}


def write_facts(facts):
    return (u64(facts["inode"]) + u32(facts["permissions"]) + u32(facts["user"]) + u32(facts["group"])
            + write_date(facts["mtime"]) + write_date(facts["atime"]))


def read_value(data):
    """An attribute value as (kind, value): R23."""
    kind, rest = data[:1], data[1:]
    if kind == b"\x01":
        demand(is_text(rest), "R23", "text that is not UTF-8")
        return "text", rest
    if kind == b"\x02":
        return "data", rest
    if kind == b"\x03":
        return "number", number(sized(rest, 8, "R23", "a number"))
    demand(kind == b"\x04", "R23", "a value of unknown kind")
    return "date", read_date(rest, "R23")


def write_value(value):
    kind, content = value
    code = u8({"text": 1, "data": 2, "number": 3, "date": 4}[kind])
    return code + (i64(content) if kind == "number" else write_date(content) if kind == "date" else content)


def read_i64(data, what):
    return number(sized(data, 8, "R21", what))


# Section 5: directories.

SERVER_FIELDS = {3: "server", 4: "protocol", 5: "port", 6: "path", 7: "domain", 8: "auth"}


def read_directory(plaintext):
    """The decoded name of a directory: R20 to R23, R26 to R29."""
    fields = read_list(plaintext, (*range(1, 14), 16), (9, 10, 11, 12))
    kinds = [tag for tag in (1, 2, 3, 13) if tag in fields]
    demand(len(kinds) == 1, "R26", "not exactly one of the fields 1, 2, 3 and 13")
    demand(3 in fields or not any(tag in fields for tag in range(4, 9)), "R26", "a field of a server without one")
    key = {1: read_container, 2: read_service, 3: read_server, 13: read_group}[kinds[0]](fields)
    demand(fields.get(16, b"\1") == b"\1", "R21", "the mark of a namesake is not 1")
    default = sized(fields[12], 1, "R21", "the default class")[0]
    demand(default in CLASSES, "R27", "an unknown default class")
    return {"key": key, "creation": read_date(fields[9]), "modification": read_date(fields[10]),
            **read_facts(fields[11]), "defaultClass": default, "namesake": 16 in fields, "later": later_fields(fields)}


def read_container(fields):
    value = fields[1]
    demand(len(value) == 2, "R21", "a container that is not two bytes")
    demand(value[0] in ITEM_CLASSES, "R27", "an unknown item class")
    demand(value[1] in (0, 1), "R27", "an unknown sync byte")
    return {"kind": "container", "class": value[0], "sync": value[1]}


def read_group(fields):
    demand(is_text(fields[13]), "R28", "an access group that is not text")
    demand(fields[13] != b"default", "R28", "a group named default")
    return {"kind": "group", "group": fields[13]}


def read_service(fields):
    value = read_value(fields[2])
    demand(value[0] in ("text", "data"), "R29", "a service that is no text or data")
    return {"kind": "service", "class": 1, "service": value}


def read_server(fields):
    key = {"kind": "service", "class": 2}
    for tag, name in SERVER_FIELDS.items():
        if tag not in fields:
            continue
        value = ("number", read_i64(fields[tag], "the port")) if name == "port" else read_value(fields[tag])
        allowed = {"port": ("number",), "protocol": ("text", "data", "number")}.get(name, ("text", "data"))
        demand(value[0] in allowed, "R29", f"{name} is a {value[0]}")
        key[name] = value
    demand(without_defaults(key) == key, "R29", "a default value is stored")
    return key


def is_decimal(data):
    """Whether the bytes are exactly what str(int(x)) prints of an i64."""
    digits = data[1:] if data[:1] == b"-" else data
    if not digits.isdigit() or len(data) > 20 or (digits[:1] == b"0" and data != b"0"):
        return False
    return -2 ** 63 <= int(data) < 2 ** 63


def without_defaults(key):
    """The key of a service of class 2 as it is stored: without default values."""
    stored = dict(key)
    protocol = stored.get("protocol")
    if protocol and protocol[0] == "text" and is_decimal(protocol[1]):
        stored["protocol"] = ("number", int(protocol[1]))
    for name in ("protocol", "port", "path", "domain", "auth"):
        if name in stored and stored[name][1] in (0, b""):
            del stored[name]
    return stored


# Section 6: items.

ATTRIBUTES = {14: "Label", 15: "Alias", 16: "Description", 17: "Comment", 18: "Creator", 19: "Type", 20: "ScriptCode",
              21: "IsInvisible", 22: "IsNegative", 23: "HasCustomIcon", 24: "Generic", 33: "AccessControl"}
# Of certificates and keys: the attributes of the primary key, which are in field 10, and the others.
PRIMARY_KEY = {34, 37, 38, *range(41, 50)}
KEY_ATTRIBUTES = set(range(34, 66)) - PRIMARY_KEY - {40}


def read_item(plaintext, version):
    """The decoded metadata of an item whose row has the version: R20 to R23, R34 to R38."""
    fields = read_list(plaintext, range(1, 12), (1, 2, 3, 4, 5, 6))
    account = read_value(fields[1])
    demand(account[0] in ("text", "data"), "R34", "an account that is no text or data")
    item = {"account": account, "creation": read_date(fields[2]), "modification": read_date(fields[3]),
            "reference": sized(fields[4], 16, "R34", "the reference"), **read_facts(fields[5]),
            "secretVersion": read_i64(fields[6], "the secret version"), "secretCount": None}
    demand(0 <= item["secretVersion"] <= version, "R35", "secret version out of range")
    if 7 in fields:
        item["secretCount"] = read_i64(fields[7], "the secret count")
        demand(0 <= item["secretCount"] <= CONTENTS_LIMIT, "R35", "secret count out of range")
    item["attributes"] = read_attributes(fields[8]) if 8 in fields else []
    item["extra"] = read_extra(fields[9]) if 9 in fields else []
    item["primaryKey"] = fields.get(10)
    item["publicKey"] = sized(fields[11], 20, "R54", "the hash of the public key") if 11 in fields else None
    primary = read_attributes(fields[10], PRIMARY_KEY) if fields.get(10) else []
    item["later"] = later_fields(fields)
    total = sum(value_size(value) for _, value in item["attributes"] + primary) + sum(len(n) + len(v) for n, v in item["extra"])
    demand(total <= ATTRIBUTES_LIMIT, "R38", "too many bytes of attributes")
    return item


def value_size(value):
    return {"number": 8, "date": 12}.get(value[0]) or len(value[1])


def read_attributes(data, known=KEY_ATTRIBUTES.union(ATTRIBUTES)):
    """Attributes as a list of (key, value): R36."""
    demand(data, "R36", "an empty list of attributes")
    found, last = [], -1
    for head, content in read_counted(data, 1, "R36"):
        key = head[0]
        demand(key > last, "R36", f"attribute {key} after attribute {last}")
        last = key
        if key >= LATER and known is not PRIMARY_KEY:
            found.append((key, ("later", content)))
            continue
        demand(key in known, "R36", f"unknown attribute {key}")
        try:
            value = read_value(content)
        except Refused as refusal:
            raise Refused("R36", f"attribute {key}: {refusal}") from None
        demand(key != 33 or (value[0] == "number" and value[1] > 0), "R36", "access control is no number above 0")
        found.append((key, value))
    return found


def read_extra(data):
    """Extra attributes as a list of (name, value): R37."""
    demand(data, "R37", "an empty list of extra attributes")
    pieces = [value for _, value in read_counted(data, 0, "R37")]
    demand(len(pieces) % 2 == 0, "R37", "a name without a value")
    names = pieces[0::2]
    demand(all(names), "R37", "an empty name")
    demand(all(a < b for a, b in zip(names, names[1:])), "R37", "names that do not rise")
    return list(zip(names, pieces[1::2]))


# Section 5: past values.

LEAST_INFO = 256


def read_info(plaintext):
    """The decoded info of a past value: R53."""
    try:
        return decode_info(plaintext)
    except Refused as refusal:
        raise Refused("R53", str(refusal)) from None


def decode_info(plaintext):
    fields = read_list(plaintext, range(1, 19), (1, 9, 10, 11, 13, 14, 15), LEAST_INFO)
    container = fields[1]
    demand(len(container) >= 2 and container[0] in ITEM_CLASSES and container[1] <= 1 and is_text(container[2:]), "R53", "a container that there is not")
    has_service = {2: 1, 3: 2}.get(next((tag for tag in range(2, 9) if tag in fields), 0), 0)
    demand(not any(tag in fields for tag in range(2, 9)) or has_service == container[0], "R53", "a service of another class")
    demand(container[0] != 2 or has_service == 2, "R53", "an internet password without a server")
    demand(2 not in fields or 3 not in fields, "R53", "two services")
    service = {0: lambda _: None, 1: read_service, 2: read_server}[has_service](fields)
    demand(has_service != 1 or not any(tag in fields for tag in range(3, 9)), "R53", "a server's field in a service")
    demand(fields[11] in (b"\1", b"\2"), "R53", "an unknown reason")
    demand(len(fields.get(12, bytes(16))) == 16, "R53", "a thread group of another size")
    info = {"class": container[0], "sync": container[1], "group": container[2:], "service": service, "date": read_date(fields[9]),
            "storeTime": read_i64(fields[10], "the store time"), "reason": fields[11][0], "threadGroup": fields.get(12),
            **dict(zip(("id", "directory", "version"), struct.unpack("<qqq", sized(fields[13], 24, "R53", "the row")))),
            "metadata_seal": sized(fields[14], SEAL, "R53", "the seal of the metadata"), "tag": sized(fields[15], TAG, "R53", "the tag"),
            "always_tag": fields.get(16), "master_key_generation": None, "mac": None, "later": later_fields(fields)}
    demand(info["storeTime"] >= 0, "R53", "a negative store time")
    demand((16 in fields) == (17 in fields), "R53", "an Always tag without a MAC, or the other way round")
    if 17 in fields:
        sized(fields[16], TAG, "R53", "the Always tag")
        mac = sized(fields[17], 40, "R53", "the MAC")
        info |= {"master_key_generation": number(mac[:8]), "mac": mac[8:]}
    if 18 in fields:
        default, permissions, *_ = struct.unpack("<BIII", sized(fields[18], 13, "R53", "the folder"))
        demand(default in CLASSES and permissions & ~0o7777 == 0, "R53", "a folder that there is not")
    return info


# Section 7: canonical names.

PROTOCOLS = dict(line.split(":") for line in (
    "ftp :ftp|ftpa:ftpaccount|http:http|irc :irc|nntp:nntp|pop3:pop3|smtp:smtp|sox :socks|imap:imap|ldap:ldap|"
    "atlk:appletalk|afp :afp|teln:telnet|ssh :ssh|ftps:ftps|htps:https|htpx:httpproxy|htsx:httpsproxy|ftpx:ftpproxy|"
    "smb :smb|rtsp:rtsp|rtsx:rtspproxy|daap:daap|eppc:eppc|ipp :ipp|ntps:nntps|ldps:ldaps|tels:telnets|imps:imaps|"
    "ircs:ircs|pops:pop3s").split("|"))
AUTHENTICATIONS = dict(line.split(":") for line in (
    "ntlm:ntlm|msna:msn|dpaa:dpa|rpaa:rpa|http:httpbasic|httd:httpdigest|form:htmlform|dflt:default").split("|"))
SERVER_RESERVED = b",="


def units(data, reserved=b""):
    """The spelling of bytes, as a list of units."""
    if data in (b"", b".", b".."):
        return [b"%"] if not data else [b"%2E"] * len(data)
    spelled, at = [], 0
    while at < len(data):
        size = next((n for n in (1, 2, 3, 4) if at + n <= len(data) and is_text(data[at:at + n])), 0)
        character = data[at:at + max(size, 1)]
        plain = size > 1 or (size == 1 and 0x1F < character[0] != 0x7F and character not in (b"%", b"/")
                             and character not in [bytes([r]) for r in reserved])
        spelled.append(character if plain else b"%%%02X" % character[0])
        at += len(character)
    return spelled


def cut(spelled, most=255):
    """The name of a spelling: itself, or its beginning and a hash."""
    whole = b"".join(spelled)
    if len(whole) <= most:
        return whole
    begun = b""
    for unit in spelled:
        if len(begun) + len(unit) > most - 34:
            break
        begun += unit
    return begun + b"%~" + blake2b(whole, 16).hex().upper().encode()


def plain_name(data):
    """The name of an account or an access group."""
    return cut(units(data))


def folder_name(data):
    """The name of a service of class 1."""
    return cut(units(data), FOLDER_NAME)


def code_units(value, codes):
    """The spelling of a protocol or an authentication type."""
    if value[0] == "number":
        return [b"%23"] + ascii_units(str(value[1]))
    constant = codes.get(value[1].decode("latin-1"))
    return ascii_units(constant) if constant else [b"~"] + units(value[1], SERVER_RESERVED)


def ascii_units(text):
    return [character.encode() for character in text]


def server_name(key):
    """The name of a service of class 2."""
    key = without_defaults(key)
    spelled = units(key["server"][1], SERVER_RESERVED)
    if "protocol" in key:
        spelled += ascii_units(",protocol=") + code_units(key["protocol"], PROTOCOLS)
    if "port" in key:
        spelled += ascii_units(f",port={key['port'][1]}")
    for name in ("path", "domain"):
        if name in key:
            spelled += ascii_units(f",{name}=") + units(key[name][1], SERVER_RESERVED)
    if "auth" in key:
        spelled += ascii_units(",auth=") + code_units(key["auth"], AUTHENTICATIONS)
    return cut(spelled)


def service_name(key):
    return folder_name(key["service"][1]) if key["class"] == 1 else server_name(key)


def directory_tag(lookup, key, parent):
    """The tag of a directory in a parent, a row id or 0."""
    if key["kind"] == "group":
        return H(lookup, b"group", plain_name(key["group"]), size=TAG)
    if key["kind"] == "container":
        return H(lookup, b"container", i64(parent), u8(key["class"]), u8(key["sync"]), size=TAG)
    return H(lookup, b"folder" if key["class"] == 1 else b"server", i64(parent), service_name(key), size=TAG)


def row_mac(key, store, row):
    """The MAC of an Always item."""
    position = ad(10, store) + b"".join(i64(row[c]) for c in ("id", "directory", "protection", "generation", "version"))
    return H(key, b"keychainfs always row", position + part(row["tag"]) + part(row["always_tag"]), row["secret_seals"],
             row["metadata_seal"], row["metadata"])


def item_keys(lookup, row, directory, item):
    """The rows of item_key that the fields of an item determine."""
    rows = []
    if item["primaryKey"] is not None:
        rows.append({"item": row, "kind": 1, "tag": H(lookup, b"primary key", i64(directory), comparable(item["primaryKey"]), size=TAG)})
    if item["publicKey"] is not None:
        rows.append({"item": row, "kind": 2, "tag": H(lookup, b"public key", item["publicKey"], size=TAG)})
    return rows


def comparable(primary_key):
    """Field 10 as its tag contains it: with each text as data."""
    made = b""
    for key, value in read_attributes(primary_key, PRIMARY_KEY) if primary_key else ():
        value = write_value(("data", value[1]) if value[0] == "text" else value)
        made += u8(key) + u32(len(value)) + value
    return made


def fields_fit(item_class, item):
    """Whether an item has the fields 10 and 11 as its class permits: R54."""
    fields = {name for name in ("primaryKey", "publicKey") if item[name] is not None}
    if item_class == 3:
        return len(fields) in (0, 2)
    return not fields or (item_class == 4 and "primaryKey" in fields)


def past_tag(lookup, reference):
    return H(lookup, b"past", reference, size=TAG)


def item_tag(lookup, directory, account):
    return H(lookup, b"item", i64(directory), plain_name(account[1]), size=TAG)


# Section 8: the header and the row digests.

HEADER_NUMBERS = ("storeTime", "wallClock", "pastSeconds", "pastLimit", "pastBytes", "rulesRow", "rulesVersion", "rekeyDevice")
HEADER_SIZE = 256


def read_header(plain):
    """The header of a store as a mapping: R42."""
    header = {"commit": number(plain[:8]), "commitID": plain[8:24], "nextRow": number(plain[24:32])}
    for name, at in (("keys", 32), ("rows", 72)):
        header[name] = (number(plain[at:at + 8]), plain[at + 8:at + 40])
    for n, name in enumerate(HEADER_NUMBERS):
        header[name] = number(plain[112 + 8 * n:120 + 8 * n])
    header["reserved"] = plain[176:]
    demand(0 <= header["commit"] < 2 ** 63 - 1, "R42", "a commit number out of range")
    demand(FIRST_ROW <= header["nextRow"] <= ROW_ID_LIMIT, "R42", "a next row out of range")
    numbers = [header["keys"][0], header["rows"][0], *(header[name] for name in HEADER_NUMBERS if name != "wallClock")]
    demand(min(numbers) >= 0, "R42", "a negative number in the header")
    return header


def write_header(header):
    """The plaintext of a header."""
    sums = b"".join(i64(header[name][0]) + header[name][1] for name in ("keys", "rows"))
    return (i64(header["commit"]) + header["commitID"] + i64(header["nextRow"]) + sums
            + b"".join(i64(header[name]) for name in HEADER_NUMBERS) + header["reserved"])


KEY_TABLES = ("store", "slot", "device", "class_key", "user_key")
DIGESTED = {name: (code, columns.split()) for code, (name, columns) in enumerate((
    ("store", "user_version id identifier salt passes memory user_key_generation master_key_generation reader_mask writer_mask "
              "master_keys_seal master_keys"),
    ("slot", "id kind user_key_generation ephemeral parameters user_key_seal user_key recipient_seal recipient"),
    ("device", "id tag mark mark_id"),
    ("class_key", "purpose generation device wrapping user_key_generation keys_seal keys"),
    ("user_key", "generation key_seal key"),
    ("directory", "id parent version master_key_generation tag always_tag name_seal always_name_seal name always_name"),
    ("item", "id directory version protection generation master_key_generation secret_row tag always_tag ephemeral mac "
             "metadata_seal secret_seals metadata"),
    ("past", "id protection generation master_key_generation secret_row tag info_seal secret_seals info metadata"),
    ("item_key", "item kind tag"),
), 1)}


def row_digest(key, table, row):
    """The digest of one row, a mapping of its columns."""
    code, columns = DIGESTED[table]
    values = (row[column] for column in columns)
    return H(key, u8(code) + b"".join(i64(value) if isinstance(value, int) else part(value) for value in values))


def digest_sum(digests):
    """The sum of digests, 32 bytes."""
    return (sum(int.from_bytes(each, "little") for each in digests) % 2 ** 256).to_bytes(32, "little")


# Section 9: the device file.

DEVICE_FILE_SIZE = 121


def device_file(key, store, state):
    """The file in which a device keeps the last state that it has seen."""
    numbers = i64(state["generation"]) + i64(state["passes"]) + i64(state["memory"])
    head = b"\x02" + store + i64(state["commit"]) + state["commitID"] + numbers + i64(state["mark"]) + state["markID"]
    return head + H(key, head)


def read_device_file(data, store):
    """The state in such a file, whose MAC is not verified yet: R45."""
    demand(len(data) == DEVICE_FILE_SIZE and data[:1] == b"\x02", "R45", "the device file is not of 121 bytes or begins with another byte than 2")
    demand(data[1:17] == store, "R45", "the device file is another store's")
    commit, generation, passes, memory, mark = (number(data[at:at + 8]) for at in (17, 41, 49, 57, 65))
    demand(0 <= commit < 2 ** 63 - 1 and generation >= 1 and mark >= 0, "R45", "a number out of range in the device file")
    return {"commit": commit, "commitID": data[25:41], "generation": generation, "passes": passes, "memory": memory,
            "mark": mark, "markID": data[73:89]}


def check_device_file(data, key):
    """The MAC of such a file: R45."""
    demand(H(key, data[:89]) == data[89:], "R45", "the device file is not authentic")


# Section 2: the log next to a store.

def log_frames(log):
    """The frames of a write-ahead log that SQLite accepts: page number, whether a transaction ends, contents. Nothing for a log
    that it ignores. https://www.sqlite.org/fileformat2.html#the_write_ahead_log"""
    if len(log) < 32 or int.from_bytes(log[:4], "big") & ~1 != 0x377F0682:
        return
    order = "big" if log[3] & 1 else "little"
    size = int.from_bytes(log[8:12], "big")
    total = log_checksum(log[:24], order, (0, 0))
    if total != struct.unpack(">II", log[24:32]) or size < 512 or size > 65536 or size & (size - 1):
        return
    for start in range(32, len(log) - 24 - size + 1, 24 + size):
        head, page = log[start:start + 24], log[start + 24:start + 24 + size]
        total = log_checksum(page, order, log_checksum(head[:8], order, total))
        if head[8:16] != log[16:24] or head[:4] == bytes(4) or total != struct.unpack(">II", head[16:24]):
            return
        yield int.from_bytes(head[:4], "big"), head[4:8] != bytes(4), page


def log_checksum(data, order, total):
    """The running checksum of a log after data."""
    words = struct.unpack((">" if order == "big" else "<") + "I" * (len(data) // 4), data)
    first, second = total
    for a, b in zip(words[::2], words[1::2]):
        first = (first + a + second) & 0xFFFFFFFF
        second = (second + b + first) & 0xFFFFFFFF
    return first, second


def check_log(file, log):
    """Whether a log has transactions; refuses a log that does not belong to the file: R60."""
    page, image, found, commits = file[4096:8192], None, set(), 0
    for number_of_page, is_end, contents in log_frames(log):
        demand(len(contents) == 4096, "R60", "a log with pages of another size")
        if number_of_page == 2:
            image = contents
        if is_end:
            commits += 1
            found |= {at for at in range(0, 4096, 512) if image and image[at:at + 512] == page[at:at + 512]}
    has_row = page[:1] == b"\x0d" and page[3:5] == b"\0\1"
    demand(commits == 0 or (has_row and len(found) == 8), "R60", "a log that does not belong to the file")
    return commits > 0


def case_lines(value, name=""):
    """Test cases as JSON, each on a line: the elements of a list of objects or lists, and the members of an object that has such lists."""
    head = f"{json.dumps(name)}: " if name else ""
    is_group = isinstance(value, dict) and any(isinstance(each, list) and each and isinstance(each[0], (dict, list)) for each in value.values())
    if is_group:
        inner, ends = (case_lines(each, key) for key, each in value.items()), "{}"
    elif isinstance(value, list) and value and isinstance(value[0], (dict, list)):
        inner, ends = (json.dumps(each, ensure_ascii=False) for each in value), "[]"
    else:
        return head + json.dumps(value, ensure_ascii=False)
    return head + ends[0] + "\n" + ",\n".join(inner) + "\n" + ends[1]
