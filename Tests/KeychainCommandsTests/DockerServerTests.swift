import Keychain
import Testing

@testable import KeychainCommands

@Suite("Servers of docker")
struct DockerServerTests {
    @Test(
        "E8: a server is a service, and is returned unchanged",
        arguments: [
            ("https://index.docker.io/v1/", "index.docker.io,protocol=https,path=%2Fv1%2F"),
            ("https://index.docker.io/v1/access-token", "index.docker.io,protocol=https,path=%2Fv1%2Faccess-token"),
            ("127.0.0.1:5998", "127.0.0.1,port=5998"), ("ghcr.io", "ghcr.io"), ("ghcr.io/", "ghcr.io,path=%2F"),
            ("http://h:1", "h,protocol=http,port=1"), ("[::1]:5000", "[::1],port=5000"),
            ("x+y-z.1://h", "h,protocol=~x+y-z.1"),
            ("HTTPS://h", "h,protocol=~HTTPS"), ("h/a://b", "h,path=%2Fa:%2F%2Fb"), ("1://h", nil), ("u@h", "u@h"),
            ("höst", "höst"), ("h?x#y", "h?x#y"),
        ])
    func valid(_ url: String, _ directory: String?) throws {
        let server = DockerServer(url)
        #expect(server.map { String(decoding: CanonicalName(service: $0.service).bytes, as: UTF8.self) } == directory)
        guard let server else { return }
        #expect(server.url == url)
        let name = CanonicalName(service: server.service)
        guard case .key(let key) = try name.service(in: .internetPassword) else {
            Issue.record("the name is not a service")
            return
        }
        #expect(DockerServer(key) == server)
    }

    @Test(
        "E8: a server that would not be returned unchanged is refused",
        arguments: [
            "", "/", "https://", "https:///v1/", ":1", "h:", "h:x", "h:080", "h:0", "h:65536", "h\n", "h\0", "h\u{7F}",
            "https://h:",
            "htps://h", "://h",
        ])
    func refused(_ url: String) {
        #expect(DockerServer(url) == nil)
    }

    @Test("E8: a service with other attributes, or whose text is another server, has no URL")
    func services() throws {
        for name in ["h,domain=x", "h,auth=HTTPBasic", "h:80", "h,path=x", "h%2Fx", "a:%2F%2Fh", "h,protocol=7", ""] {
            let typed = CanonicalName(typed: Array(name.utf8))
            guard case .key(let key)? = try? typed.service(in: .internetPassword) else { continue }
            #expect(DockerServer(key) == nil, "\(name)")
        }
    }
}
