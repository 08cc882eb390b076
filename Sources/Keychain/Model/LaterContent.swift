/// The part of an item that this program keeps without using it. An object, because most items have no such part: a copy
/// of an item then retains nothing for it.
final class LaterContent: Hashable, Sendable {
    let attributes: [LaterField]
    let fields: [LaterField]

    /// Returns nil if both are empty, so that equal items have equal content.
    init?(attributes: [LaterField], fields: [LaterField]) {
        if attributes.isEmpty, fields.isEmpty { return nil }
        (self.attributes, self.fields) = (attributes, fields)
    }

    static func == (a: LaterContent, b: LaterContent) -> Bool {
        a.attributes == b.attributes && a.fields == b.fields
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(attributes)
        hasher.combine(fields)
    }
}
