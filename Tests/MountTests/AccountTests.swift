import Testing

/// The ordinary user that tests of several processes create.
@Suite struct AccountTests {
    /// The second useradd(8) would give the account another number, and directories of the first would not be its own.
    @Test(
        "Processes that create an account at the same time get the same one",
        arguments: Account.isRoot ? [0, 1, 2, 3, 4, 5] : [])
    func created(_ round: Int) throws {
        let name = "kcfs-n-\(round)"
        let script = """
            name=$1; shift
            for _ in 1 2 3 4; do { "$@" > /dev/null 2>&1 || true; id -u "$name"; } & done; wait
            userdel "$name"
            """
        let result = try Command.run(["bash", "-c", script, "bash", name] + Account.creation(of: name))
        let numbers = result.output.split(separator: "\n")
        #expect(result.code == 0 && numbers.count == 4 && Set(numbers).count == 1, "\(result.output)")
    }
}
