extension ItemRequest {
    private static let operationKey = "operation"
    private static let queryKey = "query"
    private static let attributesKey = "attributes"
    private static let accessGroupsKey = "accessGroups"
    /// The maximum number of access groups, each of which may require a query of the store.
    private static let maximumGroups = 1024

    /// The request as the list of a frame.
    var list: PropertyList {
        var values: [String: PropertyList] = [
            Self.operationKey: .string(operation.rawValue), Self.queryKey: .dictionary(query),
            Self.accessGroupsKey: .array(accessGroups.map { .string($0) }),
        ]
        if operation == .update { values[Self.attributesKey] = .dictionary(attributes) }
        return .dictionary(values)
    }

    /// Decodes the list of a frame.
    ///
    /// - Throws: `malformed` unless it has exactly the parts of its operation, each of the right type.
    package init(list bytes: [UInt8]) throws(FrameError) {
        guard case .dictionary(var values) = try PropertyList(binary: bytes),
            case .string(let name)? = values.removeValue(forKey: Self.operationKey),
            let operation = Operation(rawValue: name),
            case .dictionary(let query)? = values.removeValue(forKey: Self.queryKey),
            case .array(let groups)? = values.removeValue(forKey: Self.accessGroupsKey)
        else { throw .malformed }
        var attributes: [String: PropertyList] = [:]
        if operation == .update {
            guard case .dictionary(let found)? = values.removeValue(forKey: Self.attributesKey) else {
                throw .malformed
            }
            attributes = found
        }
        guard values.isEmpty else { throw .malformed }
        self.init(operation, query: query, attributes: attributes, accessGroups: try Self.names(groups))
    }

    private static func names(_ groups: [PropertyList]) throws(FrameError) -> [String] {
        guard groups.count <= maximumGroups else { throw .malformed }
        var names: [String] = []
        for group in groups {
            guard case .string(let name) = group else { throw .malformed }
            names.append(name)
        }
        return names
    }
}
