/// The number of single-character changes between two words: insertions, deletions, substitutions and swaps of neighbors
/// (optimal string alignment distance).
enum EditDistance {
    static func between(_ first: String, _ second: String) -> Int {
        let source = Array(first), target = Array(second)
        guard !source.isEmpty, !target.isEmpty else { return max(source.count, target.count) }
        // The last three rows of the distance table.
        var beforePrevious: [Int] = []
        var previous = Array(0...target.count)
        for row in 1...source.count {
            var current = [row]
            for column in 1...target.count {
                let substitution = previous[column - 1] + (source[row - 1] == target[column - 1] ? 0 : 1)
                var cost = min(substitution, previous[column] + 1, current[column - 1] + 1)
                if row > 1, column > 1, source[row - 1] == target[column - 2], source[row - 2] == target[column - 1] {
                    cost = min(cost, beforePrevious[column - 2] + 1)
                }
                current.append(cost)
            }
            (beforePrevious, previous) = (previous, current)
        }
        return previous[target.count]
    }
}
