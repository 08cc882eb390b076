extension PropertyList {
    /// The representation of ``object`` in a list.
    static let objectMark: [String: PropertyList] = ["$object": .boolean(true)]

    /// Decodes a complete, untrusted binary property list (`bplist00`).
    ///
    /// - Throws: `malformed` if it is invalid or exceeds ``PropertyListLimits``.
    package init(binary bytes: [UInt8]) throws(FrameError) {
        self = try BinaryPropertyListReader.value(of: bytes)
    }

    /// Encodes the value as a binary property list.
    ///
    /// - Throws: `malformed` for containers deeper than 16 levels, which no reader accepts.
    package func binary() throws(FrameError) -> [UInt8] {
        try BinaryPropertyListWriter.bytes(of: self)
    }
}
