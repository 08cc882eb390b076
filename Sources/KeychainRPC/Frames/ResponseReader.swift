import SecretCrypto

/// Assembles the frames of a response from chunks of any size. Stores secrets directly in locked memory.
package struct ResponseReader: ~Copyable, Sendable {
    /// The maximum size of a frame's list in bytes.
    package static let listLimit = 1 << 20

    /// The number of attempts to allocate locked memory, each of which waits for a second, because secrets of other
    /// threads are temporary.
    private static let attempts = 5

    /// The status of the last frame; nil until it has arrived.
    package private(set) var status: Int32?
    /// The header of the present frame; nil while it is incomplete.
    private var header: FrameHeader?
    /// The bytes of the header, later those of the list.
    private var collected: [UInt8] = []
    /// The secrets of the present frame, allocated when the list is complete; nil for a frame without secrets.
    private var secrets: SecretBytes?
    private var secretsFilled = 0

    package init() {}

    /// Appends a chunk and calls `receive` for each frame that is complete.
    ///
    /// - Throws: `malformed` for an invalid response and for bytes after the last frame; `tooLong`;
    ///   `outOfSecretMemory`. The frames received and the reader are invalid then.
    package mutating func append(
        _ bytes: RawSpan, receive: (borrowing ResponseFrame) -> Void
    ) throws(FrameError) {
        var done = 0
        while done < bytes.byteCount {
            guard status == nil else { throw .malformed }
            done += try take(bytes.extracting(done..<bytes.byteCount))
            if let header, collected.count == header.listCount, secretsFilled == header.secretCount {
                try deliver(receive)
            }
        }
    }

    /// Consumes the bytes that belong to the present part. Returns their number.
    private mutating func take(_ bytes: RawSpan) throws(FrameError) -> Int {
        guard let header else {
            let taken = collect(bytes, upTo: FrameHeader.byteCount)
            try readHeader()
            return taken
        }
        guard collected.count == header.listCount else {
            let taken = collect(bytes, upTo: header.listCount)
            if collected.count == header.listCount { try reserveCapacity(for: header.secretCount) }
            return taken
        }
        let part = bytes.extracting(0..<min(bytes.byteCount, header.secretCount - secretsFilled))
        try store(part)
        return part.byteCount
    }

    private mutating func collect(_ bytes: RawSpan, upTo count: Int) -> Int {
        let part = bytes.extracting(0..<min(bytes.byteCount, count - collected.count))
        collected += [UInt8](copying: part)
        return part.byteCount
    }

    private mutating func readHeader() throws(FrameError) {
        guard let found = try FrameHeader.first(of: collected.rawSpan) else { return }
        guard found.listCount > 0 else { throw .malformed }
        guard found.listCount <= Self.listLimit else { throw .tooLong }
        header = found
        collected.removeAll(keepingCapacity: true)
    }

    private mutating func reserveCapacity(for count: Int) throws(FrameError) {
        guard count > 0 else { return }
        do throws(CryptoError) {
            secrets = try SecretBytes.waiting(count: count, attempts: Self.attempts)
        } catch {
            throw .outOfSecretMemory
        }
    }

    private mutating func store(_ part: RawSpan) throws(FrameError) {
        guard var buffer = secrets.take() else { throw .malformed }
        var target = buffer.mutableBytes
        secretsFilled += target.write(part, at: secretsFilled)
        secrets = consume buffer
    }

    private mutating func deliver(_ receive: (borrowing ResponseFrame) -> Void) throws(FrameError) {
        let frame = try ResponseFrame(list: collected, secrets: secrets.take())
        header = nil
        collected.removeAll(keepingCapacity: true)
        secretsFilled = 0
        if frame.isLast { status = frame.status }
        receive(frame)
    }
}
