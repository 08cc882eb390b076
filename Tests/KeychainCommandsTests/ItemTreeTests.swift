import KeychainMount
import Testing

@testable import KeychainCommands

@Suite("Trees of items")
struct ItemTreeTests {
    private let tree = ItemTree(
        name: "/mnt",
        contents: [
            ItemTree(
                name: "web",
                contents: [
                    ItemTree(name: "b", label: "b"), ItemTree(name: "a", label: "A\u{1B}[31m\n"),
                    ItemTree(name: "ä", label: ""),
                    ItemTree(name: "B"),
                ]),
            ItemTree(name: "empty", contents: []),
        ])

    @Test("E4: a line contains a name, and a label that differs from it, without control characters")
    func text() {
        let expected = """
            /mnt
            ├── empty
            └── web
                ├── B
                ├── a  (A\\u{1b}[31m\\u{a})
                ├── b
                └── ä
            """
        #expect(tree.text(.unicode) == expected)
        let ascii = expected.replacing("├──", with: "|--").replacing("└──", with: "`--")
        #expect(tree.text(.ascii) == ascii)
        #expect(ItemTree(name: "/mnt", contents: []).text(.unicode) == "/mnt")
    }

    @Test("E4: a line continues next to all entries below a directory that is not the last one")
    func continuation() {
        let tree = ItemTree(
            name: "/", contents: [ItemTree(name: "a", contents: [ItemTree(name: "b")]), ItemTree(name: "c")])
        #expect(tree.text(.unicode) == "/\n├── a\n│   └── b\n└── c")
        #expect(tree.text(.ascii) == "/\n|-- a\n|   `-- b\n`-- c")
    }

    @Test("E4: in JSON, only a directory has contents")
    func json() throws {
        #expect(try ItemTree(json: tree.json) == tree)
        #expect(ItemTree(name: "x", label: "L").jsonText == "{\n  \"label\" : \"L\",\n  \"name\" : \"x\"\n}")
        #expect(ItemTree(name: "x", contents: []).jsonText.contains("\"contents\" : ["))
    }

    @Test(
        "E4: lines have box-drawing characters in a UTF-8 locale only",
        arguments: [
            ([:], TreeLines.ascii), (["LANG": "C"], .ascii), (["LANG": "en_US.UTF-8"], .unicode),
            (["LANG": "de_DE.utf8"], .unicode),
            (["LANG": "C.UTF-8", "LC_ALL": "C"], .ascii), (["LANG": "C", "LC_CTYPE": "C.UTF-8"], .unicode),
            (["LC_ALL": "", "LANG": "C.UTF-8"], .unicode), (["LC_ALL": "C", "LC_CTYPE": "C.UTF-8"], .ascii),
        ])
    func locale(_ variables: [String: String], _ expected: TreeLines) {
        #expect(TreeLines { variables[$0] } == expected)
    }
}
