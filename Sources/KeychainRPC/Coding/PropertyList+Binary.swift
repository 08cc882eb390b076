extension PropertyList {
    /// What stands in a list for ``object``.
    static let objectMark: [String: PropertyList] = ["$object": .boolean(true)]

    /// The value of a whole binary property list (`bplist00`), of which nothing is believed.
    ///
    /// - Throws: `malformed` for what is none, and for what would cost more than ``PropertyListLimits``.
    package init(binary bytes: [UInt8]) throws(FrameError) {
        self = try BinaryPropertyListReader.value(of: bytes)
    }

    /// The binary property list of the value.
    ///
    /// - Throws: `malformed` for containers deeper than 16, which nobody would read.
    package func binary() throws(FrameError) -> [UInt8] {
        try BinaryPropertyListWriter.bytes(of: self)
    }
}
