/// The keys of a protection class in one generation, as rows refer to them.
package struct KeyGeneration: Hashable, Sendable {
    package var protection: ProtectionClass
    package var generation: Int64

    package init(_ protection: ProtectionClass, _ generation: Int64) {
        self.protection = protection
        self.generation = generation
    }
}
