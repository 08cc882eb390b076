import FileSystemCore

/// Random programs over so few names that they get in each other's way.
public struct Generator {
    private var random: any RandomNumberGenerator
    /// In bytes.
    private let valueLimit: Int
    private let abilities: Capabilities
    static let processes = 0..<3
    static let slots = 0..<3

    /// Steps that not every system can take.
    public struct Capabilities: OptionSet, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let wait = Capabilities(rawValue: 1)
        /// The disk is full, or fails.
        public static let disk = Capabilities(rawValue: 2)
    }

    public static let services = [
        "generic-passwords/s", "generic-passwords/t", "internet-passwords/h", "synchronizable/generic-passwords/s",
        "access-groups/g/generic-passwords/s",
    ]
    static let folders = [
        "generic-passwords", "internet-passwords", "synchronizable/generic-passwords",
        "access-groups/g/generic-passwords",
    ]
    public static let names = ["a", "b", "c"]
    private static let classes = ItemClass.allCases.map(\.rawValue)

    public init(_ random: any RandomNumberGenerator, valueLimit: Int, abilities: Capabilities) {
        self.random = random
        self.valueLimit = valueLimit
        self.abilities = abilities
    }

    /// Begins with some directories, so that most steps find something to do.
    public mutating func program(length: Int) -> [Step] {
        let beginning =
            [Step(0, .makeGroup("g"))] + Self.services.filter { !$0.hasPrefix("i") }.map { Step(0, .makeDirectory($0)) }
        var program = beginning
        while program.count < length {
            program += abilities.contains(.disk) && isOne(in: 80) ? trouble() : [operation()]
        }
        return program
    }

    /// A full disk for some steps.
    private mutating func trouble() -> [Step] {
        let isForeseen = isOne(in: 2)
        let steps = (0..<pick(1..<12)).map { _ in operation() }
        let ends = [true, false].map { Step(0, isForeseen ? .fillDisk($0) : .failDisk($0)) }
        return [ends[0]] + steps + [ends[1]]
    }

    private mutating func operation() -> Step { Step(pick(Self.processes), action()) }

    private mutating func action() -> Action {
        switch pick(0..<1060) {
        case ..<170: .open(place(), flags: flags(), slot: pick(Self.slots))
        case ..<290: .close(slot: pick(Self.slots))
        case ..<310: .duplicate(slot: pick(Self.slots), to: pick(Self.slots))
        case ..<360: .read(slot: pick(Self.slots), offset: offset(), count: pick(1..<9000))
        case ..<490: .write(slot: pick(Self.slots), offset: offset(), fill())
        case ..<540: .resize(slot: pick(Self.slots), size: offset())
        case ..<570: .sync(slot: pick(Self.slots))
        case ..<600: .status(slot: pick(Self.slots))
        case ..<620: .spawn(slot: isOne(in: 2) ? pick(Self.slots) : nil, fill())
        case ..<640: .exit
        case ..<660: .die
        case ..<680: .contents(place())
        case ..<695: .truncate(place(), size: offset())
        case ..<705: .stat(place())
        case ..<715: .chmod(place(), pick([0o600, 0o400, 0o644, 0o700]))
        case ..<725: .setTime(place(), Int64(1_000_000_000 + pick(0..<1000)))
        case ..<735: .make(place())
        case ..<775: .unlink(place())
        case ..<865: .rename(place(), place(), flags: renameFlags())
        case ..<930: attributeAction()
        case ..<970: directoryAction()
        case ..<1000: stateAction()
        default: .ask(serviceCall())
        }
    }

    private mutating func attributeAction() -> Action {
        switch pick(0..<10) {
        case ..<3: .setAttribute(place(), Model.accessible, pick(Self.classes), flags: 0)
        case ..<6: .setAttribute(place(), attribute(), text(), flags: pick([0, 0, 0, 1, 2]))
        case ..<7: .setAttribute(place(), "user.kSecAttrAccount", pick(Self.names), flags: 0)
        case ..<8: moveByAttribute()
        case ..<9: .removeAttribute(place(), isOne(in: 3) ? Model.accessible : attribute())
        default: .attributes(place())
        }
    }

    /// To another directory.
    private mutating func moveByAttribute() -> Action {
        switch pick(0..<4) {
        case ..<2: .setAttribute(place(), "user.kSecAttrService", pick(["s", "t", "u"]), flags: 0)
        case ..<3: .setAttribute(place(), "user.kSecAttrAccessGroup", pick(["default", "g"]), flags: 0)
        default: .setAttribute(place(), "user.kSecAttrSynchronizable", pick(["0", "1"]), flags: 0)
        }
    }

    private mutating func directoryAction() -> Action {
        switch pick(0..<10) {
        case ..<2: .makeDirectory(service())
        case ..<4: .removeDirectory(service())
        case ..<6: .renameDirectory(service(), service(), flags: renameFlags())
        case ..<7: .list(isOne(in: 2) ? service() : pick(Self.folders))
        case ..<8: .statDirectory(service())
        default: .setDefault(service(), pick(Self.classes))
        }
    }

    private mutating func serviceCall() -> ServiceCall {
        let label = isOne(in: 4) ? text() : nil
        switch pick(0..<8) {
        case ..<2: return .add(place(), fill(), label: label)
        case ..<3: return .find(place())
        case ..<5: return .delete(place())
        case ..<6: return .update(place(), fill(), label: label, to: nil)
        default:
            // Between classes nothing moves.
            let places = [place(), place()]
            let sameClass = ServicePath(places[0].directory).itemClass == ServicePath(places[1].directory).itemClass
            return .update(places[0], isOne(in: 2) ? fill() : nil, label: "moved", to: sameClass ? places[1] : nil)
        }
    }

    private mutating func stateAction() -> Action {
        switch pick(0..<21) {
        case ..<6: .lock
        case ..<15: .unlock
        case ..<16: abilities.contains(.wait) ? .wait : .unlock
        case ..<18: .remount
        case ..<19: .remountLocked
        default: .kill
        }
    }

    // MARK: Arguments

    private mutating func pick(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
    private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[pick(0..<elements.count)] }
    private mutating func isOne(in count: Int) -> Bool { pick(0..<count) == 0 }
    private mutating func service() -> String { pick(0..<8) == 0 ? "generic-passwords/u" : pick(Self.services) }

    /// Most in one directory: what happens between names happens there.
    private mutating func place() -> Place {
        Place(isOne(in: 3) ? pick(Self.services) : Self.services[0], pick(Self.names))
    }

    private mutating func flags() -> Int32 {
        var flags: OpenFlags = pick([[], .writeOnly, .writeOnly, .readWrite, .readWrite])
        if !isOne(in: 3) { flags.insert(.create) }
        if isOne(in: 4) { flags.insert(.truncate) }
        if isOne(in: 8) { flags.insert(.append) }
        if isOne(in: 16) { flags.insert(.exclusive) }
        if isOne(in: 12) { flags.insert(.dsync) }
        return flags.rawValue
    }

    private mutating func renameFlags() -> UInt32 { pick([0, 0, 0, 0, 0, 1, 2, 2, 3]) }

    /// Near the beginning, at the edges of the pieces that values are kept in, or near the limit.
    private mutating func offset() -> Int {
        switch pick(0..<20) {
        case ..<12: pick(0..<64)
        case ..<16: pick(0..<3) * 4096 + pick(0..<3)
        case ..<19: pick(0..<20_000)
        default: valueLimit - 1 + pick(0..<3)
        }
    }

    private mutating func fill() -> BytePattern {
        let count = isOne(in: 4) ? pick(1..<9000) : pick(1..<40)
        return BytePattern(UInt8(pick(0..<256)), count)
    }

    private mutating func attribute() -> String {
        pick([
            "user.kSecAttrLabel", "user.kSecAttrLabel", "user.kSecAttrComment", "user.color", "user.shape",
            "user.kSecAttrModificationDate", "user.kSecAttrKeyType", "trusted.x",
        ])
    }

    private mutating func text() -> String {
        isOne(in: 30) ? String(repeating: "x", count: 40_000) : pick(["red", "blue", "Home Wi-Fi", "ü"])
    }
}
