// swift-tools-version: 6.2
// A package as a user writes it: Keychain Services under a module alias, with packages that test `canImport(Security)`; and a program that
// uses KeychainClient and KeychainFile.
import PackageDescription

let package = Package(
    name: "user",
    dependencies: [
        .package(path: "../keychainfs"),
        .package(path: "Unrelated"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    ],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "Security", package: "keychainfs", moduleAliases: ["Security": "KeychainServices"]),
                .product(name: "Unrelated", package: "Unrelated"),
                .product(name: "X509", package: "swift-certificates"),
            ]),
        .executableTarget(
            name: "Client",
            dependencies: [
                .product(name: "KeychainClient", package: "keychainfs"),
                .product(name: "KeychainFile", package: "keychainfs"),
            ]),
    ])
