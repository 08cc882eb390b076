import SecretCrypto

/// The syntax of environment files (contract, E6). Copies only names of variables.
enum EnvironmentLines {
    fileprivate typealias Assignment = EnvironmentFile.Assignment
    fileprivate typealias Reason = EnvironmentFile.ParseError.Reason

    /// The escape sequences in double quotes, without their backslash.
    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "n"): UInt8(ascii: "\n"), UInt8(ascii: "t"): UInt8(ascii: "\t"),
        UInt8(ascii: "\\"): UInt8(ascii: "\\"), UInt8(ascii: "\""): UInt8(ascii: "\""),
    ]

    fileprivate static func isEscape(_ byte: UInt8) -> Bool { escapes[byte] != nil }

    /// Returns the assignments of all lines, in their order.
    static func assignments(
        in octets: Span<UInt8>
    ) throws(EnvironmentFile.ParseError) -> [EnvironmentFile.Assignment] {
        var found: [Assignment] = []
        var (start, number) = (octets.hasByteOrderMark ? 3 : 0, 1)
        while start < octets.count {
            let end = octets.index(of: UInt8(ascii: "\n"), in: start..<octets.count)
            do throws(Reason) {
                if let assignment = try octets.assignment(start..<end, number) { found.append(assignment) }
            } catch {
                throw EnvironmentFile.ParseError(line: number, reason: error)
            }
            (start, number) = (end + 1, number + 1)
        }
        return found
    }

    /// Returns the bytes of a range that was between double quotes, with its escape sequences replaced.
    static func unescaped(_ bytes: borrowing SecretBytes, _ range: Range<Int>) throws(CryptoError) -> SecretBytes {
        let octets = bytes.bytes.octets
        var value = try SecretBytes(count: range.count)
        var (index, count) = (range.lowerBound, 0)
        while index < range.upperBound {
            if octets[index] == UInt8(ascii: "\\"), index + 1 < range.upperBound {
                index += 1
                value.set(escapes[octets[index]] ?? octets[index], at: count)
            } else {
                value.set(octets[index], at: count)
            }
            (index, count) = (index + 1, count + 1)
        }
        value.truncate(to: count)
        return value
    }
}

extension Span<UInt8> {
    fileprivate typealias Assignment = EnvironmentLines.Assignment
    fileprivate typealias Reason = EnvironmentLines.Reason

    /// Some editors on Windows begin a file with it.
    fileprivate var hasByteOrderMark: Bool { begins(0..<count, with: [0xEF, 0xBB, 0xBF]) }

    /// Parses a line; nil if it is empty or a comment.
    fileprivate func assignment(_ line: Range<Int>, _ number: Int) throws(Reason) -> Assignment? {
        var rest = trimmed(line)
        guard !rest.isEmpty, self[rest.lowerBound] != UInt8(ascii: "#") else { return nil }
        guard index(of: 0, in: line) == line.upperBound else { throw .zero }
        let export = Array("export".utf8)
        if begins(rest, with: export), rest.count > export.count, isBlank(rest.lowerBound + export.count) {
            rest = trimmed(rest.dropFirst(export.count))
        }
        let sign = index(of: UInt8(ascii: "="), in: rest)
        guard sign < rest.upperBound else { throw .noSign }
        guard let name = VariableName(self, rest.lowerBound..<sign) else { throw .name }
        let value = sign + 1..<rest.upperBound
        let first = trimmed(value).lowerBound
        guard first < value.upperBound, [UInt8(ascii: "'"), UInt8(ascii: "\"")].contains(self[first]) else {
            return Assignment(name: name, line: number, range: unquoted(value), hasEscapes: false)
        }
        let range = try quoted(first..<value.upperBound)
        return Assignment(name: name, line: number, range: range, hasEscapes: self[first] == UInt8(ascii: "\""))
    }

    /// Returns the range of a value without quotes: up to a comment, without blanks around it.
    private func unquoted(_ value: Range<Int>) -> Range<Int> {
        let comment = value.dropFirst().first { self[$0] == UInt8(ascii: "#") && isBlank($0 - 1) }
        return trimmed(value.lowerBound..<(comment ?? value.upperBound))
    }

    /// Returns the range between the quotes.
    private func quoted(_ value: Range<Int>) throws(Reason) -> Range<Int> {
        let quote = self[value.lowerBound]
        var end = value.lowerBound + 1
        while end < value.upperBound, self[end] != quote {
            if quote == UInt8(ascii: "\""), self[end] == UInt8(ascii: "\\") {
                end += 1
                guard end < value.upperBound, EnvironmentLines.isEscape(self[end]) else { throw .escape }
            }
            end += 1
        }
        guard end < value.upperBound else { throw .quote }
        let rest = trimmed(end + 1..<value.upperBound)
        let isComment = rest.lowerBound > end + 1 && !rest.isEmpty && self[rest.lowerBound] == UInt8(ascii: "#")
        guard rest.isEmpty || isComment else { throw .quote }
        return value.lowerBound + 1..<end
    }

    /// Returns the range without blanks at both ends; an empty one at the end of a range that contains nothing else.
    private func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, isBlank(start) { start += 1 }
        while end > start, isBlank(end - 1) { end -= 1 }
        return start..<end
    }

    /// Whether a byte is a blank, a tab, or the carriage return of a line that ends as on Windows.
    private func isBlank(_ index: Int) -> Bool { [0x20, 0x09, 0x0D].contains(self[index]) }

    /// Returns the first index of a byte; the end of the range if it does not contain the byte.
    fileprivate func index(of byte: UInt8, in range: Range<Int>) -> Int {
        var index = range.lowerBound
        while index < range.upperBound, self[index] != byte { index += 1 }
        return index
    }

    private func begins(_ range: Range<Int>, with bytes: [UInt8]) -> Bool {
        range.count >= bytes.count && bytes.indices.allSatisfy { self[range.lowerBound + $0] == bytes[$0] }
    }
}
