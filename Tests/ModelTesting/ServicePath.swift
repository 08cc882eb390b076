/// The path of a service directory below the root, by its parts (T1).
struct ServicePath: Hashable {
    /// The access group, or nil for the default one.
    var group: String?
    var isSynchronizable = false
    var itemClass: String
    var service: String

    init(_ path: String) {
        var parts = path.split(separator: "/").map(String.init)
        if parts.first == "access-groups" {
            group = parts.dropFirst().first
            parts.removeFirst(min(2, parts.count))
        }
        if parts.first == "synchronizable" {
            isSynchronizable = true
            parts.removeFirst()
        }
        itemClass = parts.first ?? ""
        service = parts.dropFirst().first ?? ""
    }

    /// The path of the class directory that contains the service.
    var container: String {
        let folders = (group.map { ["access-groups", $0] } ?? []) + (isSynchronizable ? ["synchronizable"] : [])
        return (folders + [itemClass]).joined(separator: "/")
    }

    /// The path of the group's directory, or nil for the default one.
    var groupFolder: String? { group.map { "access-groups/\($0)" } }

    var path: String { "\(container)/\(service)" }

    var isGeneric: Bool { itemClass == "generic-passwords" }

    /// The path of the item's directory after its attribute was set; nil for an attribute that does not determine it.
    func setting(_ name: String, to value: String) -> ServicePath? {
        var path = self
        switch name {
        case "user.kSecAttrService" where isGeneric: path.service = value
        case "user.kSecAttrAccessGroup": path.group = value == "default" ? nil : value
        case "user.kSecAttrSynchronizable": path.isSynchronizable = value == "1"
        default: return nil
        }
        return path
    }
}
