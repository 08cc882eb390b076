import Keychain

/// T3: the names of internet directories, from keys that an input makes and as they are typed.
extension FuzzTarget {
    static let directoryNames = FuzzTarget(
        "directory-names", limit: 1024,
        words: [
            ",protocol=", ",port=", ",path=", ",domain=", ",auth=", "https", "httpbasic", "default", "%23", "~", "%2C",
        ],
        examples: { directoryNameExamples }
    ) { input in
        var reader = InputReader(input)
        guard reader.byte() % 2 == 0 else { return try type(CanonicalName(typed: reader.remaining())) }
        let service = internetService(&reader)
        let name = CanonicalName(service: .internet(service))
        try check(form: name)
        let found = try name.service(in: .internetPassword)
        let expected = ParsedName.key(ServiceKey.internet(texts(of: service.normalized)))
        try hold(found == (name.isCut ? .cut : expected), "a server is not what its name stands for")
    }

    private static let directoryNameExamples: [[UInt8]] = {
        let typed = [
            "example.com", "example.com,protocol=https,port=8443",
            "a,protocol=~xyz,path=%2Fa%2Cb,domain=d,auth=httpbasic",
            "%,protocol=%2317", "a%2Cb,auth=~q%3D", "a,port=-1",
        ]
        let made: [[UInt8]] = [
            [0, 1, 97, 1, 4, 104, 116, 112, 115, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 47, 97, 0, 1, 4, 100, 102, 108, 116],
            [0, 3, 97, 44, 61, 2, 17, 0, 0, 0, 0, 0, 0, 0],
        ]
        return typed.map { [1] + Array($0.utf8) } + made
    }()

    private static func type(_ name: CanonicalName) throws {
        guard case .key(let service)? = try? name.service(in: .internetPassword) else { return }
        try hold(CanonicalName(service: service) == name, "a second spelling of a server")
        try hold(service == service.normalized, "a server that is not the one form of its key")
        try check(form: name)
    }

    private static func internetService(_ reader: inout InputReader) -> InternetService {
        var service = InternetService(server: .blob(reader.counted()))
        switch reader.byte() % 3 {
        case 0: break
        case 1: service.protocol = .blob(reader.counted())
        default: service.protocol = .number(reader.number())
        }
        if reader.byte() % 2 == 1 { service.port = reader.number() }
        if reader.byte() % 2 == 1 { service.path = .blob(reader.counted()) }
        if reader.byte() % 2 == 1 { service.securityDomain = .blob(reader.counted()) }
        if reader.byte() % 2 == 1 { service.authenticationType = .blob(reader.counted()) }
        return service
    }

    /// The service with text in place of bytes that are valid text: a name does not distinguish text from data.
    private static func texts(of service: InternetService) -> InternetService {
        func text(_ value: AttributeValue?) -> AttributeValue? {
            guard let bytes = value?.bytes else { return value }
            return .blob(bytes)
        }
        var service = service
        service.server = text(service.server) ?? service.server
        (service.protocol, service.path) = (text(service.protocol), text(service.path))
        (service.securityDomain, service.authenticationType) = (
            text(service.securityDomain), text(service.authenticationType)
        )
        return service
    }
}
