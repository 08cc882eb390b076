/// Words of a POSIX shell command.
package enum ShellWord {
    /// Returns the text as one word: unchanged if the shell does not interpret any of its characters, otherwise in single quotes.
    package static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch Character(UnicodeScalar(byte)) {
            case "0"..."9", "a"..."z", "A"..."Z", "/", ".", "_", "-", "+", ",", ":", "@", "%": true
            default: false
            }
        }
        if isPlain, !text.isEmpty { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
