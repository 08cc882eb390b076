import Keychain
import KeychainTesting
import TestSupport
import Testing

private func spelling(_ bytes: [UInt8]) -> String {
    String(decoding: CanonicalName(account: .blob(bytes)).bytes, as: UTF8.self)
}

private func account(_ name: String) throws(NameError) -> ParsedName<AttributeValue> {
    try CanonicalName(typed: Array(name.utf8)).account()
}

private func server(_ name: String) throws(NameError) -> ParsedName<ServiceKey> {
    try CanonicalName(typed: Array(name.utf8)).service(in: .internetPassword)
}

@Suite struct AccountNames {
    @Test(
        "T2: one spelling for every account",
        arguments: [
            ("alice", "alice"), ("Grüße 🔑", "Grüße 🔑"), ("a/b", "a%2Fb"), ("50%", "50%25"), ("", "%"), (".", "%2E"),
            ("..", "%2E%2E"), ("...", "..."), (".hidden", ".hidden"), ("a\nb\u{7F}", "a%0Ab%7F"), ("a,b=c", "a,b=c"),
            ("%41", "%2541"),
        ])
    func spelled(text: String, name: String) throws {
        #expect(spelling(Array(text.utf8)) == name)
        #expect(try account(name) == .key(.string(text)))
    }

    @Test("T2: bytes that are not UTF-8 are spelled %XX and read back as data")
    func data() throws {
        #expect(spelling([0x61, 0xFF, 0xC3]) == "a%FF%C3")
        #expect(try account("a%FF%C3") == .key(.data([0x61, 0xFF, 0xC3])))
        // An overlong form and a surrogate are not UTF-8.
        #expect(spelling([0xC0, 0xAF]) == "%C0%AF")
        #expect(spelling([0xED, 0xA0, 0x80]) == "%ED%A0%80")
    }

    @Test(
        "T1: what is not the one spelling is refused",
        arguments: ["%61", "%2f", "a%", "%2", "%zz", "a%2E", "%2E%2E%2E", "%c3%a4", "%C3%A4", "a%00%", "%%"])
    func notCanonical(name: String) {
        #expect(throws: NameError.notCanonical) { try account(name) }
    }

    @Test("T2: typed bytes that are not UTF-8 are EILSEQ")
    func notUTF8() {
        #expect(throws: NameError.notUTF8) { try CanonicalName(typed: [0x61, 0xFF]).account() }
    }

    @Test("T1: names and accounts are one to one", arguments: 1...200)
    func roundTrip(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let bytes = (0..<Int.random(in: 0...80, using: &generator)).map { _ in
            Bool.random(using: &generator)
                ? UInt8.random(in: 0...255, using: &generator) : UInt8.random(in: 0x25...0x2F, using: &generator)
        }
        let name = CanonicalName(account: .blob(bytes))
        #expect(!name.isCut && name.bytes.count <= 255 && !name.bytes.contains(0x2F) && !name.bytes.contains(0))
        #expect(try name.account() == .key(.blob(bytes)))
    }

    @Test("T2: neither normalization nor case folding: each of these is another account")
    func distinct() throws {
        let texts = ["é", "e\u{301}", "É", "E\u{301}", "ﬁ", "fi", "FI", "straße", "strasse", "\u{212B}", "Å"]
        let names = texts.map { CanonicalName(account: .string($0)) }
        #expect(Set(names.map(\.bytes)).count == texts.count)
        for (text, name) in zip(texts, names) {
            #expect(name.bytes == Array(text.utf8))
            #expect(try name.account() == .key(.blob(Array(text.utf8))))
        }
    }

    @Test("T2: every byte and every control character has its one spelling")
    func everyByte() throws {
        for byte in UInt8.min...UInt8.max {
            let isPlain = (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "/") && byte != UInt8(ascii: "%")
            let digits = String(byte, radix: 16, uppercase: true)
            let escape = Array(("%" + (digits.count == 1 ? "0" : "") + digits).utf8)
            let name = CanonicalName(account: .blob([0x61, byte, 0x62]))
            #expect(name.bytes == [0x61] + (isPlain ? [byte] : escape) + [0x62], "\(byte)")
            #expect(try CanonicalName(typed: name.bytes).account() == .key(.blob([0x61, byte, 0x62])))
        }
    }

    @Test("T2: a name over 255 bytes is cut at a character and ends in its hash")
    func cut() throws {
        let complete = CanonicalName(account: .string(String(repeating: "a", count: 255)))
        #expect(!complete.isCut && complete.bytes.count == 255)
        let cut = CanonicalName(account: .string(String(repeating: "a", count: 256)))
        #expect(cut.isCut && cut.bytes.count == 255)
        #expect(try cut.account() == .cut)
        // The hash from coreutils: printf 'a%.0s' $(seq 256) | b2sum -l 128
        let expected = String(repeating: "a", count: 221) + "%~2DBE331C95D600BB74DCD669F0618BD7"
        #expect(String(decoding: cut.bytes, as: UTF8.self) == expected)
        let other = CanonicalName(account: .string(String(repeating: "a", count: 257)))
        #expect(other != cut)
    }

    @Test("T2: the cut never splits a character or an escape", arguments: 0..<8)
    func cutBoundary(shift: Int) throws {
        let wide = CanonicalName(
            account: .string(String(repeating: "x", count: shift) + String(repeating: "🔑", count: 80)))
        #expect(AttributeValue.isValidUTF8(wide.bytes) && wide.bytes.count <= 255)
        let escapes = CanonicalName(
            account: .data(Array(repeating: 0x78, count: shift) + Array(repeating: 0xFF, count: 100)))
        let kept = escapes.bytes.dropLast(34).dropFirst(shift)
        #expect(kept.count.isMultiple(of: 3) && escapes.isCut)
    }
}

@Suite struct InternetDirectoryNames {
    private func service(_ edit: (inout InternetService) -> Void) -> CanonicalName {
        var service = InternetService(server: .string("example.com"))
        edit(&service)
        return CanonicalName(service: .internet(service.normalized))
    }

    private func text(_ name: CanonicalName) -> String { String(decoding: name.bytes, as: UTF8.self) }

    @Test("T3: the name contains only the attributes that are set, in a fixed order")
    func order() {
        #expect(text(service { _ in }) == "example.com")
        let all = service {
            $0.authenticationType = .string("http")
            $0.securityDomain = .string("realm")
            $0.path = .string("/a,b=c")
            $0.port = 8443
            $0.protocol = .string("htps")
        }
        #expect(text(all) == "example.com,protocol=https,port=8443,path=%2Fa%2Cb%3Dc,domain=realm,auth=httpbasic")
        #expect(text(CanonicalName(service: .internet(InternetService(server: .string(""))))) == "%")
    }

    @Test("T3: defaults are not set")
    func defaults() {
        let name = service {
            $0.port = 0
            $0.path = .string("")
            $0.protocol = .number(0)
            $0.authenticationType = .string("")
        }
        #expect(text(name) == "example.com")
    }

    @Test("T3: every protocol constant has its name in lower case")
    func protocols() throws {
        #expect(InternetProtocol.table.count == 31)
        for (suffix, code) in InternetProtocol.table {
            let name = service { $0.protocol = .string(code) }
            #expect(text(name) == "example.com,protocol=\(suffix.lowercased())")
            guard case .key(let key) = try name.service(in: .internetPassword) else {
                Issue.record("no whole name")
                return
            }
            #expect(key[.protocol] == .string(code))
        }
    }

    @Test("T3: every authentication type has its name in lower case; the contents of a field are escaped")
    func authenticationTypes() throws {
        for (suffix, code) in AuthenticationType.table {
            let name = service { $0.authenticationType = .string(code) }
            #expect(text(name) == "example.com,auth=\(suffix.lowercased())")
            guard case .key(let key) = try name.service(in: .internetPassword) else {
                Issue.record("no whole name")
                return
            }
            #expect(key[.authenticationType] == .string(code))
        }
        let escaped = CanonicalName(service: .internet(InternetService(server: .string("a=b,c/d%e"))))
        #expect(text(escaped) == "a%3Db%2Cc%2Fd%25e")
        #expect(
            try escaped.service(in: .internetPassword) == .key(.internet(InternetService(server: .string("a=b,c/d%e"))))
        )
        // In a service of the other class they are letters like any other.
        #expect(text(CanonicalName(service: .generic(service: .string("a=b,c")))) == "a=b,c")
    }

    @Test("T3: other protocols are spelled ~text, numbers %23")
    func otherProtocols() throws {
        #expect(text(service { $0.protocol = .string("abcd") }) == "example.com,protocol=~abcd")
        #expect(text(service { $0.protocol = .number(42) }) == "example.com,protocol=%2342")
        #expect(text(service { $0.protocol = .string("42") }) == "example.com,protocol=%2342")
        guard case .key(let key) = try server("h,protocol=%2342") else {
            Issue.record("no whole name")
            return
        }
        #expect(key[.protocol] == .number(42))
    }

    @Test(
        "T1: another spelling of a directory is refused",
        arguments: [
            "h,port=0", "h,port=08", "h,port=+8", "h,port=", "h,port=x", "h,protocol=HTTPS", "h,protocol=htps",
            "h,protocol=~htps", "h,protocol=~42", "h,protocol=~%", "h,protocol=%230", "h,path=", "h,path=%",
            "h,auth=~http",
            "h,port=1,protocol=https", "h,port=1,port=1", "h,foo=1", "h,", "h,port", "a=b", ",port=1", "h,path=/",
        ])
    func notCanonical(name: String) {
        #expect(throws: NameError.notCanonical) { try server(name) }
    }

    @Test("T1: text and data of equal bytes are one key")
    func kinds() {
        #expect(CanonicalName(account: .string("abc")) == CanonicalName(account: .data([0x61, 0x62, 0x63])))
    }
}
