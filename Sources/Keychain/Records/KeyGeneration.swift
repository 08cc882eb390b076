/// The keys of a class in one generation, as rows name them.
package struct KeyGeneration: Hashable, Sendable {
    package var protection: Protection
    package var generation: Int64

    package init(_ protection: Protection, _ generation: Int64) {
        self.protection = protection
        self.generation = generation
    }
}
