package import Keychain
import LinuxSupport

/// A location in the tree of a keychain at which an item can be (contract, T5).
package struct ItemLocation: Hashable, Sendable {
    package let itemClass: ItemClass
    package let name: String

    /// - Parameters:
    ///   - names: The names from the root of the keychain.
    ///   - item: The item as the user has named it, for messages.
    /// - Throws: `impossible` if no item can have this location.
    init(_ names: [String], of item: String) throws(CLIError) {
        let shown = Printable.text(item)
        if names.first == FixedName.control {
            throw CLIError(.impossible, "\(shown) is a control file of the keychain, not an item.")
        }
        var rest = names[...]
        if rest.first == FixedName.accessGroups { rest = rest.dropFirst(2) }
        if rest.first == FixedName.synchronizable { rest = rest.dropFirst() }
        guard let folder = rest.popFirst(), let itemClass = ItemClass.allCases.first(where: { $0.folderName == folder })
        else {
            throw CLIError(
                .impossible,
                "\(shown) is not an item: items are in directories of generic-passwords and internet-passwords.")
        }
        guard rest.count >= 2 else {
            throw CLIError(
                .impossible,
                "\(shown) is not an item. The name of an item contains its service: SERVICE/NAME, such as 'mail/amy'.")
        }
        guard rest.count == 2, let service = rest.first, let name = rest.last else {
            throw CLIError(
                .impossible,
                """
                \(shown) is not an item: an item is exactly one level below its service, SERVICE/NAME. A '/' in a name is \
                written as %2F.
                """)
        }
        (self.itemClass, self.name) = (itemClass, name)
        try Self.check(service: service, itemClass, item: shown)
        try Self.check(account: name, item: shown)
    }

    private static func check(service: String, _ itemClass: ItemClass, item: String) throws(CLIError) {
        let bytes = Array(service.utf8)
        do throws(NameError) {
            _ = try CanonicalName(typed: bytes).service(in: itemClass)
        } catch {
            let similar = CanonicalName.service(similarTo: bytes, in: itemClass)
            throw refusal(of: bytes, in: item, similar, itemClass)
        }
    }

    private static func check(account: String, item: String) throws(CLIError) {
        let bytes = Array(account.utf8)
        do throws(NameError) {
            _ = try CanonicalName(typed: bytes).account()
        } catch {
            throw refusal(of: bytes, in: item, CanonicalName.account(similarTo: bytes), .genericPassword)
        }
    }

    private static func refusal(
        of name: [UInt8], in item: String, _ similar: CanonicalName?, _ itemClass: ItemClass
    ) -> CLIError {
        if name.count > CanonicalName.maximumLength {
            return CLIError(.impossible, "\(item) is not possible: a name has at most 255 bytes.")
        }
        if let similar {
            let spelling = Printable.text(String(decoding: similar.bytes, as: UTF8.self))
            return CLIError(.impossible, "\(item) is not the canonical spelling of a name. Write '\(spelling)'.")
        }
        let order = "the server, then the fields protocol, port, path, domain and auth in this order"
        return CLIError(
            .impossible,
            "\(item) is not a possible name" + (itemClass == .internetPassword ? ": write \(order)." : "."))
    }
}
