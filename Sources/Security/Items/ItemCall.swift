internal import Foundation
internal import KeychainConnection
internal import KeychainRPC

/// A call of a SecItem function, from a caller's dictionaries to a status and a result.
struct ItemCall {
    typealias Result = UnsafeMutablePointer<CFTypeRef?>

    let access: ItemAccess

    init(_ access: ItemAccess = .current()) { self.access = access }

    func add(_ attributes: CFDictionary, _ result: Result?) -> OSStatus {
        unsafe responding(result) { response throws(ItemDictionary.Failure) in
            var item = try ItemDictionary(attributes)
            // Without a place for it, no result is created.
            if unsafe result == nil { item.askForNoResult() }
            return perform(.add, item, secret: item.data, into: &response)
        }
    }

    func copyMatching(_ query: CFDictionary, _ result: Result?) -> OSStatus {
        unsafe responding(result) { response throws(ItemDictionary.Failure) in
            var item = try ItemDictionary(query)
            item.dropData()
            if unsafe result == nil, item.asksForResult { return errSecParam }
            return perform(.copyMatching, item, into: &response)
        }
    }

    func update(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
        unsafe responding(nil) { response throws(ItemDictionary.Failure) in
            var item = try ItemDictionary(query)
            item.dropData()
            let change = try ItemDictionary(attributesToUpdate)
            return perform(.update, item, change.terms, secret: change.data, into: &response)
        }
    }

    func delete(_ query: CFDictionary) -> OSStatus {
        unsafe responding(nil) { response throws(ItemDictionary.Failure) in
            var item = try ItemDictionary(query)
            item.dropData()
            return perform(.delete, item, into: &response)
        }
    }

    /// Replaces the contents of the result pointer in all cases; nil after a failure.
    private func responding(
        _ result: Result?, _ body: (inout ItemResult) throws(ItemDictionary.Failure) -> OSStatus
    ) -> OSStatus {
        unsafe result?.pointee = nil
        var response = ItemResult()
        do throws(ItemDictionary.Failure) {
            let status = try body(&response)
            if status == errSecSuccess { unsafe result?.pointee = response.object }
            return status
        } catch {
            return error.status
        }
    }

    private func perform(
        _ operation: ItemRequest.Operation, _ item: ItemDictionary, _ attributes: [String: PropertyList] = [:],
        secret: Data? = nil, into response: inout ItemResult
    ) -> OSStatus {
        let request = ItemRequest(
            operation, query: item.terms, attributes: attributes, accessGroups: access.accessGroups)
        // The caller's own bytes are not wiped, so a copy in locked memory would protect nothing.
        let secret = secret ?? Data()
        return access.connection.perform(request, secret: secret.bytes) { response.receive($0) }
    }
}
