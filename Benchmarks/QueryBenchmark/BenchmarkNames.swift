/// What the items of the benchmark are called.
struct BenchmarkNames {
    let count: Int
    /// At most a thousand services.
    var services: Int { min(1000, count) }

    func service(_ number: Int) -> String { "service-\(number % services)" }
    func account(_ number: Int) -> String { "account-\(number)" }
    func label(_ number: Int) -> String { "label-\(number)" }

    /// All numbers in an order that jumps about.
    func scattered(_ index: Int) -> Int { index * 7919 % count }
}
