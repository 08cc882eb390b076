import Glibc

/// The numbers of users in the user namespace of this process (user_namespaces(7)).
public enum UserNamespace {
    /// The effective user of this process, as the parent namespace numbers it; in the initial namespace the same number.
    ///
    /// The options of a mount that was made outside name its user so. Nil if the kernel does not tell.
    static func outerUserID(of userID: UInt32) -> UInt32? {
        guard let map = try? KernelFile.contents(of: "/proc/self/uid_map") else { return nil }
        return outerUserID(of: userID, map: String(decoding: map, as: UTF8.self))
    }

    /// `map`: lines of the first number inside, the first one outside, and how many follow each other.
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
