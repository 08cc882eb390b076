import ArgumentParser
import Glibc
import KeychainCommands
import KeychainMount
import SecretCrypto

struct GenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate", abstract: "Print a generated secret.",
        discussion: """
            RECIPE is one of:
              LENGTH            letters and digits, 4 to 1024 characters (24)
              LENGTH+symbols    also !#%&()*+,-./:;<=>?@[]^_{}~, each kind at least once
              words:N           1 to 64 words of the EFF's list of 7776 ('words': 6)
              pin:N             4 to 64 digits
              hex:N             4 to 512 bytes, in hexadecimal

            At a terminal, the entropy is printed on standard error. 'keychainfs add --generate' stores a generated secret.
            """)

    @Argument(help: "The recipe. (default: 24)")
    var recipe: String?

    func validate() throws {
        if let recipe { _ = try Recipe(argument: recipe) }
    }

    func run() throws {
        try reporting(hasSecrets: true, settings: .none) { () throws(CLIError) in
            let recipe = recipe.flatMap { Recipe($0) } ?? .standard
            try Console.result(try recipe.secret(endsLine: true))
            if isatty(STDERR_FILENO) == 1 { Console.message("entropy: \(Int(recipe.bits)) bits") }
        }
    }
}

extension Recipe {
    /// Parses an argument.
    init(argument: String) throws {
        guard let recipe = Recipe(argument) else {
            throw ValidationError("'\(argument)' is not a recipe: \(Recipe.forms).")
        }
        self = recipe
    }
}
