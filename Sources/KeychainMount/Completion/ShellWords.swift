/// The words of an incomplete command line of bash or fish. Nothing is expanded or executed.
struct ShellWords: Hashable, Sendable {
    /// The complete words, without quotes.
    let words: [String]
    /// The last word without quotes; empty after a blank.
    let current: String
    /// The last word as it was typed.
    let rawCurrent: String

    /// Returns nil if a word contains an expansion (`$`, `` ` ``), whose value is unknown.
    init?(_ line: String) {
        var words: [String] = []
        var current = "", raw = ""
        var isInWord = false
        var quote: Character?
        var characters = Array(line)[...]
        while let character = characters.popFirst() {
            if quote == nil, character == " " || character == "\t" || character == "\n" {
                if isInWord { words.append(current) }
                (current, raw, isInWord) = ("", "", false)
                continue
            }
            raw.append(character)
            isInWord = true
            switch (character, quote) {
            case ("'", nil), ("\"", nil): quote = character
            case ("'", "'"), ("\"", "\""): quote = nil
            case ("\\", nil):
                guard let next = characters.popFirst() else { break }
                raw.append(next)
                current.append(next)
            case ("\\", "\""):
                guard let next = characters.popFirst() else { break }
                raw.append(next)
                if !"$`\"\\\n".contains(next) { current.append("\\") }
                current.append(next)
            case ("$", nil), ("`", nil), ("$", "\""), ("`", "\""): return nil
            default: current.append(character)
            }
        }
        self.words = words
        self.current = current
        rawCurrent = raw
    }
}
