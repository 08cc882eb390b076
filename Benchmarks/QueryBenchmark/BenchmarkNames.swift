/// The names of the benchmark's items.
struct BenchmarkNames {
    let count: Int
    /// The service of all items; if nil, they are spread over at most a thousand services.
    var service: String?

    var services: Int { service == nil ? min(1000, count) : 1 }

    func service(_ number: Int) -> String { service ?? "service-\(number % services)" }
    func label(_ number: Int) -> String { "label-\(number)" }

    /// In one service as the meter of Benchmarks/Meter calls its files.
    func account(_ number: Int) -> String {
        guard service != nil else { return "account-\(number)" }
        let digits = String(number)
        return "s" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }

    /// All numbers in an order that jumps about.
    func scattered(_ index: Int) -> Int { index * 7919 % count }
}
