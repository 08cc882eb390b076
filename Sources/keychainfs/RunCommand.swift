import ArgumentParser
import KeychainCommands
import KeychainMount

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run a program with secrets in its environment.",
        usage: """
            keychainfs run [--env <name=item>] ... [--env-folder <folder>] ... [--env-file <file>] ... [--] <command> [<argument> ...]
            """,
        discussion: """
            Reads all items first, without one line feed at their end, and replaces itself by the program, so that signals, \
            terminal and exit code are the program's. If an item cannot be read, nothing is started. A variable in several sources has \
            the value of --env, or else of --env-file, or else of --env-folder, or else of the environment of 'run'; among equal \
            sources the last one counts.

            An environment file has lines NAME=VALUE, also after 'export'. A value that begins with 'keychain:' names an item, all other \
            values are taken as they are: '$' has no meaning. 'single quotes' keep everything; in "double quotes" \\n, \\t, \\\\ and \
            \\" are replaced; a '#' after a blank begins a comment.

            Processes of the same user can read the environment of the program. Where a program reads a file, name the item's \
            file instead: curl -K, ssh -i, PGPASSFILE.

            Exit codes: those of the program; 126 it cannot be executed; 127 there is no such program. Before it is started: those of \
            'get'; 29 also for an item that is empty, contains a zero byte or has more than 128 KiB; 64 a malformed line of a file.
            """)

    @Option(
        name: .customLong("env"),
        help: ArgumentHelp("Set a variable to the secret of an item: DB=db/app. Repeatable.", valueName: "name=item"))
    var variables: [String] = []
    @Option(
        help: ArgumentHelp(
            "Set a variable for each item of a service, or of another directory, that has the name of a variable. Repeatable.",
            valueName: "folder"))
    var envFolder: [String] = []
    @Option(
        help: ArgumentHelp("Set the variables of a file. Repeatable.", valueName: "file"), completion: .file())
    var envFile: [String] = []
    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("The program and its arguments.", valueName: "command"),
        completion: .file())
    var command: [String] = []

    func validate() throws {
        for text in variables where EnvironmentSources.Variable(text) == nil {
            throw ValidationError("--env needs NAME=ITEM, such as --env DB_PASSWORD=db/app.")
        }
        for file in envFile { try requireFileName(file, of: "environment file") }
        guard let program = command.first else { throw ValidationError("Name the program to run.") }
        try requireFileName(program, of: "program")
    }

    func run() throws {
        try reporting(setup: ProcessSetup.runBeforeProgram, withoutProc: .notMounted) { () throws(CLIError) in
            let sources = EnvironmentSources(
                variables: variables.compactMap { EnvironmentSources.Variable($0) },
                folders: envFolder.map { ItemName($0) },
                files: envFile)
            try sources.environment().execute(lastArguments: command.count, program: command.first ?? "")
        }
    }
}
