// swift-tools-version: 6.2
// A package as a user writes it: Keychain Services under a module alias in a library, a program and a test, with packages that test
// `canImport(Security)`; and a program that uses KeychainClient and KeychainFile. The lines of docs/swift.md are among these.
import PackageDescription

let package = Package(
    name: "user",
    dependencies: [
        .package(path: "../keychainfs"),
        .package(path: "FoundationOnly"),
        .package(path: "Unrelated"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    ],
    targets: [
        .target(
            name: "Tokens",
            dependencies: [
                .product(name: "Security", package: "keychainfs", moduleAliases: ["Security": "KeychainServices"])
            ]),
        .executableTarget(
            name: "App",
            dependencies: [
                "Tokens",
                .product(name: "Passwords", package: "FoundationOnly"),
                .product(name: "Unrelated", package: "Unrelated"),
                .product(name: "X509", package: "swift-certificates"),
            ]),
        .executableTarget(name: "Tool", dependencies: ["Tokens"]),
        .testTarget(name: "TokensTests", dependencies: ["Tokens"]),
        .executableTarget(
            name: "Client",
            dependencies: [
                .product(name: "KeychainClient", package: "keychainfs"),
                .product(name: "KeychainFile", package: "keychainfs"),
            ]),
    ])
