import Keychain

@testable import KeychainMount

/// Parses `-o` lists, durations and terms of a search.
extension FuzzTarget {
    static let options = FuzzTarget(
        "options", limit: 1024,
        words: [
            "ro", "rw", "noexec", "no_spin", "staged_limit=9", "staged_limit=", "locked", "allow_other", "allow_root",
            "fsname=", "subtype=",
            "passphrase_file=/",
            "key_file=/", "lock_after=1h30m", "lock_at_most=2d", "lock_on=suspend\\,screen", "x-systemd.automount",
            "\\,",
            "\\\\", "kSecAttrLabel=", "port=", "0x00", "cdat=",
        ],
        examples: { optionExamples.map { Array($0.utf8) } }
    ) { input in
        let text = String(decoding: input, as: UTF8.self)
        try check(options: text)
        try check(duration: text)
        if let term = try? SearchTerm(text) {
            try hold((try? term.value()) != nil, "a term without a value")
        }
    }

    private static let optionExamples = [
        "ro,noexec,allow_other,fsname=/a\\,b,subtype=keychainfs",
        "rw,lock_after=90s,lock_at_most=1d2h3m4s,lock_on=suspend\\,screen",
        "passphrase_file=/etc/p,noauto,x-a=b", "locked,defaults,_netdev", "key_file=/k,fsname=a\\\\b", "1h30m",
        "2147483647s",
        "label=ü", "port=8443", "generic=0x00FF", "cdat=2026-11-22T05:26:01Z",
    ]

    /// The daemon gets what the command was given: the list written out is the same list.
    private static func check(options text: String) throws {
        guard let list = try? MountOptionList([text]) else { return }
        let arguments = list.arguments
        try hold(arguments.isEmpty || arguments.count == 2, "options that are not one argument")
        let again = try MountOptionList(arguments.last.map { [$0] } ?? [])
        try hold(again.arguments == arguments, "options that are others when they are written")
        try hold(again.isReadOnly == list.isReadOnly && again.access == list.access, "other rights than asked for")
        try hold(again.lockPolicy == list.lockPolicy && again.source == list.source, "options that got lost")
        try hold(again.startsLocked == list.startsLocked, "options that got lost")
        try hold(again.forbidsPrograms == list.forbidsPrograms, "options that got lost")
        try hold(again.stagedLimit == list.stagedLimit, "staged_limit that got lost")
        try hold(again.neverSpins == list.neverSpins, "no_spin that got lost")
        // A comma ends an option for mount(8), regardless of the following character.
        if last(of: text, isSwitchFor: ["ro", "rw"]) == "ro" { try hold(list.isReadOnly, "'ro' was not seen") }
    }

    /// The last of some options among what bytes say are options.
    private static func last(of text: String, isSwitchFor names: [String]) -> String? {
        guard !text.contains("\\") else { return nil }
        return text.utf8.split(separator: UInt8(ascii: ",")).compactMap { String($0) }.last(where: names.contains)
    }

    private static func check(duration text: String) throws {
        guard let duration = DurationText.parse(text) else { return }
        try hold(duration > .zero && text.utf8.allSatisfy { $0 < 0x80 }, "a duration that is none")
        try hold(DurationText.parse(DurationText.text(duration)) == duration, "a duration that is another when written")
    }
}
