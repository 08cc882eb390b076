import Glibc

/// The user IDs of this process's user namespace (user_namespaces(7)).
public enum UserNamespace {
    /// Returns the ID of a user in the parent namespace; the same ID in the initial namespace.
    ///
    /// The options of a mount that was created outside contain that ID. Nil if it is unknown.
    static func outerUserID(of userID: UInt32) -> UInt32? {
        guard let map = try? KernelFile.contents(of: "/proc/self/uid_map") else { return nil }
        return outerUserID(of: userID, map: String(decoding: map, as: UTF8.self))
    }

    /// Returns the ID of a user in the parent namespace.
    ///
    /// - Parameter map: Lines with the first ID inside, the first ID outside, and the length of the range.
    static func outerUserID(of userID: UInt32, map: String) -> UInt32? {
        for line in map.split(separator: "\n") {
            let numbers = line.split(separator: " ").compactMap { UInt32($0) }
            guard numbers.count == 3, userID >= numbers[0], userID - numbers[0] < numbers[2] else { continue }
            let (outer, overflow) = numbers[1].addingReportingOverflow(userID - numbers[0])
            return overflow ? nil : outer
        }
        return nil
    }
}
