/// The long word list of the Electronic Frontier Foundation for passphrases: 7,776 words of 3 to 9 letters. No word is the
/// beginning of another. License: Resources/README.md.
enum WordList {
    private static let text = PackageResources.eff_large_wordlist_txt
    /// The position of each word in the text.
    private static let ranges = text.split(separator: UInt8(ascii: "\n")).map(\.indices)

    static var count: Int { ranges.count }
    /// The size of the longest word in bytes.
    static let longest = ranges.map(\.count).max() ?? 0

    /// Returns the letters of a word, which are part of the program.
    static func word(_ index: Int) -> ArraySlice<UInt8> { text[ranges[index]] }
}
