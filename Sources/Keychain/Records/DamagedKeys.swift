/// The number of malformed rows in each table of keys.
package struct DamagedKeys: Hashable, Sendable {
    package var slots = 0
    package var devices = 0
    package var classKeys = 0
    package var userKeys = 0

    package init() {}

    package var total: Int { slots + devices + classKeys + userKeys }
}
