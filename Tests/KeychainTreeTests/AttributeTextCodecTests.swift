import Keychain
import Testing

@testable import KeychainTree

private func encode(_ value: AttributeValue, _ key: AttributeKey) -> String {
    String(decoding: AttributeTextCodec.encode(value, for: key), as: UTF8.self)
}

private func decode(_ text: String, _ key: AttributeKey, current: AttributeValue? = nil) -> AttributeValue? {
    AttributeTextCodec.decode(Array(text.utf8), for: key, current: current)
}

@Suite struct AttributeTextCodecTests {
    @Test("X2: an enumeration is written by its suffix, and read by suffix, full name and code")
    func enumerations() {
        #expect(encode(.string("htps"), .protocol) == "HTTPS")
        for text in ["HTTPS", "kSecAttrProtocolHTTPS", "htps"] { #expect(decode(text, .protocol) == .string("htps")) }
        #expect(encode(.string("http"), .authenticationType) == "HTTPBasic")
        for text in ["HTTPBasic", "kSecAttrAuthenticationTypeHTTPBasic", "http"] {
            #expect(decode(text, .authenticationType) == .string("http"))
        }
        for text in ["AfterFirstUnlock", "kSecAttrAccessibleAfterFirstUnlock", "ck"] {
            #expect(decode(text, .accessible) == .string("ck"))
        }
        #expect(decode("Sometimes", .accessible) == nil)
    }

    @Test("X2: numbers are decimal, booleans 0 and 1; only a creator and a type may be four characters")
    func numbers() {
        #expect(decode("8443", .port) == .number(8443))
        #expect(decode("0x10", .port) == nil)
        #expect(decode(" 1", .port) == nil)
        #expect(decode("1", .isInvisible) == .number(1))
        #expect(decode("yes", .isInvisible) == nil)
        #expect(decode("aapl", .creator) == .number(0x6161_706C) && decode("aapl", .type) == .number(0x6161_706C))
        for key in AttributeKey.allCases where key.definition.kind == .number && key != .creator && key != .type {
            #expect(decode("aapl", key) == nil && decode("1234", key) == .number(1234))
        }
        #expect(encode(.number(0x6161_706C), .creator) == "1633775724")
    }

    @Test("T2: a blob that is UTF-8 becomes a string unless it already holds data; kSecAttrGeneric is always data")
    func blobs() {
        #expect(decode("Home", .label) == .string("Home"))
        #expect(decode("Home", .label, current: .data([1])) == .data(Array("Home".utf8)))
        #expect(AttributeTextCodec.decode([0xFF], for: .label, current: nil) == .data([0xFF]))
        #expect(decode("id", .generic) == .data(Array("id".utf8)))
    }

    @Test(
        "X2: dates are RFC 3339 in UTC",
        arguments: [
            ("1970-01-01T00:00:00Z", KeychainDate(seconds: 0)),
            ("2026-11-21T01:54:59.123456789Z", KeychainDate(seconds: 1_795_226_099, nanoseconds: 123_456_789)),
            ("2000-02-29T23:59:59.5Z", KeychainDate(seconds: 951_868_799, nanoseconds: 500_000_000)),
            ("1969-12-31T23:59:59Z", KeychainDate(seconds: -1)),
            ("0001-01-01T00:00:00Z", KeychainDate(seconds: -62_135_596_800)),
        ])
    func dates(text: String, date: KeychainDate) {
        #expect(encode(.date(date), .creationDate) == text)
        #expect(decode(text, .creationDate) == .date(date))
    }

    @Test("X2: an offset is taken into account; nonsense is refused")
    func dateForms() {
        #expect(decode("1970-01-01T01:00:00+01:00", .creationDate) == .date(KeychainDate(seconds: 0)))
        for text in ["1970-01-01", "2023-02-29T00:00:00Z", "1970-13-01T00:00:00Z", "1970-01-01T24:00:00Z", "now", ""] {
            #expect(decode(text, .creationDate) == nil)
        }
    }

    @Test(
        "X2: a date with digits that are not ASCII, or of a year that UTC cannot write, is refused",
        arguments: [
            "2026-01-01T00:00:00+٠٥:٠٠", "2026-01-01T00:00:00.٥Z", "9999-12-31T23:59:59-00:01",
            "0000-01-01T00:00:00+00:01",
        ])
    func datesThatWouldMeanAnother(text: String) {
        #expect(decode(text, .creationDate) == nil)
    }

    @Test("X2: a text that only resembles a constant's name is not converted")
    func lookalikes() {
        #expect(decode("SOC\u{212A}S", .protocol) == .string("SOC\u{212A}S"))
        #expect(decode("SOCKS", .protocol) == .string("sox "))
    }

    @Test("X2: every class is known by its suffix, its constant's name and its code")
    func protections() {
        let constants = [
            "WhenUnlocked": "ak", "AfterFirstUnlock": "ck", "Always": "dk", "WhenUnlockedThisDeviceOnly": "aku",
            "AfterFirstUnlockThisDeviceOnly": "cku", "AlwaysThisDeviceOnly": "dku",
            "WhenPasscodeSetThisDeviceOnly": "akpu", "WhenUnlockedUnlessOpen": "cuo",
        ]
        #expect(constants.count == ProtectionClass.allCases.count)
        for (suffix, code) in constants {
            for text in [suffix, "kSecAttrAccessible" + suffix, code] {
                let protection = AttributeTextCodec.protection(text)
                #expect(protection?.suffix == suffix && protection?.code == code, "\(text)")
            }
        }
        for text in ["", "whenunlocked", "WhenUnlocked ", "AK", "kSecAttrAccessible"] {
            #expect(AttributeTextCodec.protection(text) == nil)
        }
    }

    @Test("L3: so are four of them by the file protection that means the same; it is shown by its own name")
    func fileProtections() {
        let aliases: [String: ProtectionClass] = [
            "Complete": .whenUnlocked, "CompleteUnlessOpen": .whenUnlockedUnlessOpen,
            "CompleteUntilFirstUserAuthentication": .afterFirstUnlock, "None": .always,
        ]
        for (suffix, protection) in aliases {
            #expect(AttributeTextCodec.protection("NSFileProtection" + suffix) == protection)
            #expect(AttributeTextCodec.protection(suffix) == protection)
        }
        for text in ["NSFileProtection", "NSFileProtectionWhenUnlocked", "kSecAttrAccessibleComplete", "complete"] {
            #expect(AttributeTextCodec.protection(text) == nil, "\(text)")
        }
    }

    @Test("X2: every constant of protocol and authentication type goes to its suffix and back, by any of its names")
    func constants() {
        let tables: [(AttributeKey, String, [(suffix: String, code: String)])] = [
            (.protocol, "kSecAttrProtocol", InternetProtocol.table),
            (.authenticationType, "kSecAttrAuthenticationType", AuthenticationType.table),
        ]
        for (key, prefix, table) in tables {
            for (suffix, code) in table {
                #expect(encode(.string(code), key) == suffix)
                for text in [suffix, prefix + suffix, code] { #expect(decode(text, key) == .string(code)) }
            }
        }
        #expect(encode(.string("abcd"), .protocol) == "abcd" && decode("abcd", .protocol) == .string("abcd"))
    }
}
