import SecretCrypto

/// Takes the bytes of an answer as they come, cut anywhere, and makes frames of them. Secrets go straight to locked memory.
package struct ResponseReader: ~Copyable, Sendable {
    /// The most bytes that a frame's list may have.
    package static let listLimit = 1 << 20

    /// How often locked memory is asked for, each time for a second: other threads' secrets come and go.
    private static let attempts = 5

    /// What the last frame said; nil until it has come.
    package private(set) var status: Int32?
    /// Nil while the header of the frame under way is not whole.
    private var header: FrameHeader?
    /// Of the header, then of the list.
    private var collected: [UInt8] = []
    /// Made when the list is whole; nil for a frame without secrets.
    private var secrets: SecretBytes?
    private var secretsFilled = 0

    package init() {}

    /// Takes more bytes and calls `receive` for each frame that is whole now.
    ///
    /// - Throws: `malformed` for what is no answer and for bytes behind the last frame, `tooLong`, `outOfSecretMemory`. What
    ///   was received is then void, and so is the reader.
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

    /// Takes what belongs to the part under way; returns how many bytes.
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
