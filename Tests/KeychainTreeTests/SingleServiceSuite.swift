/// A suite whose items are in one directory, that of the service `s`.
protocol SingleServiceSuite {}

extension SingleServiceSuite {
    var dir: String { "generic-passwords/s" }

    func path(_ name: String) -> String { "\(dir)/\(name)" }

    /// Returns the query for the item of that name.
    func key(_ account: String, _ more: [String: String] = [:]) -> [String: String] {
        ["svce": "s", "acct": account].merging(more) { $1 }
    }
}
