/// Commands of other tools (mount(8), pass, gocryptfs, security, cryptsetup), and the corresponding ones of keychainfs.
enum ForeignCommand {
    /// Returns a sentence that names the corresponding command; nil for an unknown word.
    static func advice(_ word: String, mountPoint: String) -> String? {
        let directory = ShellWord.quoted(mountPoint)
        let item = "\(directory)/generic-passwords/SERVICE/ACCOUNT"
        switch word.lowercased() {
        case "umount", "detach", "close", "stop", "eject", "fusermount", "fusermount3":
            return "Unmount a keychain with 'keychainfs unmount'."
        case "open", "start", "attach": return "Mount a keychain with 'keychainfs mount', or 'keychainfs unlock' it."
        case "ls", "list", "dir": return "A mounted keychain is a directory: 'ls \(directory)', or 'keychainfs tree'."
        case "find", "grep", "query", "find-generic-password", "find-internet-password":
            return "Find items with 'keychainfs search'."
        case "clip", "clipboard", "yank": return "Copy a secret to the clipboard with 'keychainfs copy SERVICE/NAME'."
        case "explain", "access": return "Explain why a file cannot be used with 'keychainfs why SERVICE/NAME'."
        case "cat", "read", "print", "lookup", "password":
            return "Print the secret of an item with 'keychainfs get SERVICE/NAME', or 'cat \(item)'."
        case "insert", "set", "put", "store", "write", "add-generic-password", "add-internet-password":
            return "Add an item with 'keychainfs add SERVICE/NAME', or write its file."
        case "vi", "vim", "nano", "change", "modify":
            return "Change an item in an editor with 'keychainfs edit SERVICE/NAME'."
        case "settings", "options", "configure", "preferences": return "'keychainfs config' prints the settings."
        case "exec", "env":
            return "Run a program with secrets in its environment: 'keychainfs run --env NAME=SERVICE/NAME PROGRAM'."
        case "gen", "pwgen", "random":
            return "Print a random secret with 'keychainfs generate', or store one with 'keychainfs add --generate'."
        case "rm", "delete", "remove", "del", "delete-generic-password":
            return "Delete the file of an item: 'rm \(item)'."
        case "mv", "rename", "move", "cp": return "Items are files: use mv(1) and cp(1) below \(directory)."
        case "mkdir": return "Services are directories: 'mkdir \(directory)/generic-passwords/SERVICE'."
        case "init", "new", "make", "create-keychain": return "Create a keychain with 'keychainfs create'."
        case "passwd", "chpasswd", "change-password", "luksaddkey", "addkey", "key", "keys":
            return "Manage passphrases and keys with 'keychainfs slot list', 'slot add' and 'slot change'."
        case "info", "state", "stat": return "Show the state of a keychain with 'keychainfs status'."
        case "fsck", "verify", "scrub": return "Verify a keychain with 'keychainfs check'."
        case "repair": return "Repair a keychain with 'keychainfs check --repair'."
        case "compact", "vacuum", "gc": return "Compact a keychain with 'keychainfs check --compact'."
        case "dump", "export": return "Copy a keychain with 'keychainfs backup', or single items with cp(1)."
        case "import": return "Restore a backup with 'keychainfs restore', or copy items into \(directory) with cp(1)."
        case "logout", "seal": return "Lock a keychain with 'keychainfs lock'."
        case "login", "unseal": return "Unlock a keychain with 'keychainfs unlock'."
        case "version": return "'keychainfs --version' prints the version."
        default: return nil
        }
    }
}
