// swift-tools-version: 6.2
// A package that does not depend on keychainfs. Like others, it expects Apple's framework if `Security` can be imported.
import PackageDescription

let package = Package(
    name: "Unrelated", products: [.library(name: "Unrelated", targets: ["Unrelated"])],
    targets: [.target(name: "Unrelated")])
