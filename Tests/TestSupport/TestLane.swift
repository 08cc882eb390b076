import Foundation

/// The set of tests that a run covers. The environment variable `KEYCHAINFS_LANE` selects it; docs/testing.md describes the lanes.
public enum TestLane: String, Sendable {
    /// `scripts/test --quick`: no root, no mount.
    case quick
    /// `scripts/test`: everything that a change must pass before it lands.
    case landing
    /// `scripts/prove contract`: every argument, account and round.
    case all

    /// The lane of this process: `landing` unless the environment names another one.
    public static let current =
        ProcessInfo.processInfo.environment["KEYCHAINFS_LANE"].flatMap(TestLane.init(rawValue:)) ?? .landing

    /// Whether this run may mount file systems.
    public static var hasMounts: Bool { current != .quick }

    /// Whether this run covers what is too expensive for each landing.
    public static var isComplete: Bool { current == .all }

    /// The number of random inputs that a test tries: `count` in the lane `all`, else a third of it, like `rounds` in `lib.sh`.
    public static func rounds(_ count: Int) -> Int { isComplete ? count : (count + 2) / 3 }
}
