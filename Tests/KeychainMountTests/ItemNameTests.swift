import FileSystemCore
import Keychain
import SystemPackage
import Testing

@testable import KeychainMount

@Suite("Names of items")
struct ItemNameTests {
    private func location(_ path: String) throws(CLIError) -> ItemLocation {
        try ItemLocation(path.split(separator: "/").map(String.init), of: path)
    }

    private func refusal(_ path: String) -> CLIError? {
        do throws(CLIError) {
            _ = try location(path)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "E17: an item is one level below its service, in each scope and class",
        arguments: [
            ("generic-passwords/web/amy", ItemClass.genericPassword),
            ("internet-passwords/h,port=80/%", .internetPassword),
            ("synchronizable/generic-passwords/web/amy", .genericPassword),
            ("access-groups/team/internet-passwords/h/amy", .internetPassword),
            ("access-groups/synchronizable/synchronizable/generic-passwords/generic-passwords/x", .genericPassword),
        ])
    func locations(path: String, itemClass: ItemClass) throws {
        let location = try location(path)
        #expect(location.itemClass == itemClass && path.hasSuffix("/" + location.name))
    }

    @Test(
        "E17: other places are refused",
        arguments: [
            "", "web", "web/amy", "generic-passwords", "generic-passwords/web", "generic-passwords/a/b/c",
            "synchronizable/web/amy",
            "synchronizable/synchronizable/generic-passwords/a/b", "access-groups/generic-passwords/a/b",
            "access-groups/team/amy", "certificates/a/b", "keys/a/b", "identities/a/b", ".keychainfs/lock",
            "synchronizable/access-groups/team/generic-passwords/a/b",
        ])
    func otherPlaces(path: String) {
        #expect(refusal(path)?.exitCode == .impossible)
    }

    @Test(
        "E17: a name that is not canonical is refused, with the canonical spelling if it is known",
        arguments: [
            ("generic-passwords/a/50%", "'50%25'"), ("generic-passwords/a/b%2f", "'b%2F'"),
            ("generic-passwords/%zz/b", "'%25zz'"),
            ("generic-passwords/a/x\u{7}y", "'x%07y'"),
            ("internet-passwords/h,port=80,protocol=http/b", "'h,protocol=http,port=80'"),
            ("internet-passwords/h,color=1/b", "the server, then the fields"),
            ("generic-passwords/a/" + String(repeating: "x", count: 256), "255 bytes"),
        ])
    func notCanonical(path: String, advice: String) {
        #expect(refusal(path)?.message.contains(advice) == true && refusal(path)?.exitCode == .impossible)
    }

    @Test("E17: a fixed name of the root begins a path from there, every other name a generic service")
    func fixedNames() {
        for name in [
            "generic-passwords", "internet-passwords", "synchronizable", "access-groups", "certificates", "keys",
            "identities",
        ] {
            #expect(ItemName.pathFromRoot(name + "/a/b") == name + "/a/b")
        }
        // A combining character after the slash.
        #expect(ItemName.pathFromRoot("internet-passwords/\u{301}h/a") == "internet-passwords/\u{301}h/a")
        #expect(ItemName.isPath("/\u{301}a") && ItemName.isPath("../\u{301}a") && !ItemName.isPath("..a/b"))
        #expect(ItemName.pathFromRoot("web/amy") == "generic-passwords/web/amy")
        #expect(ItemName.pathFromRoot("keys2/amy") == "generic-passwords/keys2/amy")
        #expect(ItemName.pathFromRoot(".keychainfs/lock") == ".keychainfs/lock")
    }

    @Test(
        "E17: a name in the default mount that could lead out of it is refused before anything is accessed",
        arguments: [
            "keychain:../x", "keychain:/etc/passwd", "keychain:", "keychain:a/../b", "a/./b", "a//b", "a/", "",
            "keychain:a/b/", "keychain:../\u{301}x", "a/../\u{301}b", "a/\u{301}/../b",
        ])
    func outside(text: String) {
        do throws(CLIError) {
            _ = try ItemName(text, mountPoint: "/nowhere/mount", directory: "/").mountedItem()
            Issue.record("\(text) is an item")
        } catch {
            #expect(error.exitCode == .impossible)
        }
    }

    @Test(
        "E17: without a mount, a name and a path are refused",
        arguments: ["a/b", "keychain:a/b", "/nowhere/mount/generic-passwords/a/b", "./a/b", "../a/b"])
    func notMounted(text: String) {
        do throws(CLIError) {
            _ = try ItemName(text, mountPoint: "/nowhere/mount", directory: "/").mountedItem()
            Issue.record("\(text) is an item")
        } catch {
            #expect(error.exitCode == .notMounted)
        }
    }

    @Test(
        "E18: each error of a file has its exit code and a message that begins with a sentence about the item",
        arguments: [
            (Errno.noKey, ExitCode.locked), (.noSuchFileOrDirectory, .notFound), (.fileExists, .exists),
            (.noSpace, .diskFull),
            (.diskQuotaExceeded, .diskFull), (.badMessage, .damaged), (.readOnlyFileSystem, .readOnly),
            (.socketNotConnected, .notMounted), (.connectionAbort, .notMounted), (.permissionDenied, .noPermission),
            (.invalidArgument, .impossible), (.illegalByteSequence, .impossible), (.fileNameTooLong, .impossible),
            (.notPermitted, .impossible), (.improperLink, .impossible), (.isDirectory, .impossible),
            (.notDirectory, .impossible),
            (.fileTooLarge, .impossible), (.argListTooLong, .impossible), (.operationNotSupported, .impossible),
            (.ioError, .failure), (.operationNotSupportedByDevice, .failure), (.noMemory, .failure),
        ])
    func failures(errno: Errno, code: ExitCode) {
        let read = CLIError(errno, item: "web/amy")
        let written = CLIError(errno, item: "web/amy", consequence: "Nothing was changed.")
        #expect(read.exitCode == code && written.exitCode == code && read.message.contains("web/amy"))
        #expect(read.message.hasSuffix(".") || read.message.hasSuffix("it.") && !read.message.contains("changed"))
        let isUnknown = [.noKey, .noSuchFileOrDirectory, .fileExists, .socketNotConnected, .connectionAbort].contains(
            errno)
        #expect(
            isUnknown || errno == .operationNotSupportedByDevice || written.message.contains("Nothing was changed."))
    }
}

@Suite("Options whose value may be left out")
struct OptionalValuesTests {
    @Test("the value is added to the option of its command, before '--' only")
    func completion() {
        let values = OptionalValues(commands: ["get": ["--wait": "60s"]])
        #expect(values.completed(["get", "--wait", "a/b"]) == ["get", "--wait=60s", "a/b"])
        #expect(values.completed(["get", "--wait=5s", "a/b", "--wait"]) == ["get", "--wait=5s", "a/b", "--wait=60s"])
        #expect(values.completed(["get", "--", "--wait"]) == ["get", "--", "--wait"])
        #expect(values.completed(["lock", "--wait"]) == ["lock", "--wait"] && values.completed([]) == [])
    }
}

@Suite("The program on the command line of run")
struct ProgramWordsTests {
    @Test(
        "E6: the first word that is not an option ends the options",
        arguments: [
            ("run ls -l", "run -- ls -l"), ("run --env A=b ls --env C=d", "run --env A=b -- ls --env C=d"),
            ("run --env=A=b ls", "run --env=A=b -- ls"), ("run -- ls", "run -- ls"),
            ("run --env A=b -- ls", "run --env A=b -- ls"),
            ("run ls -- x", "run -- ls -- x"), ("run --other ls", "run --other -- ls"), ("run --env", "run --env"),
            ("run --env -- ls", "run --env -- -- ls"), ("run", "run"), ("run -", "run -- -"), ("lock x", "lock x"),
            ("", ""),
        ])
    func program(_ words: String, _ expected: String) {
        let program = ProgramWords(commands: ["run": ["--env"]])
        #expect(program.completed(words.split(separator: " ").map(String.init)).joined(separator: " ") == expected)
    }
}
