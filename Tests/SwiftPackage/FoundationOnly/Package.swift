// swift-tools-version: 5.9
// A library for Apple's systems whose sources import only Foundation and LocalAuthentication, as public keychain libraries do.
import PackageDescription

let package = Package(
    name: "FoundationOnly",
    products: [.library(name: "Passwords", targets: ["Passwords"])],
    dependencies: [.package(path: "../../keychainfs")],
    targets: [
        .target(
            name: "Passwords",
            dependencies: [
                .product(name: "Security", package: "keychainfs", moduleAliases: ["Security": "KeychainServices"]),
                .product(
                    name: "LocalAuthentication", package: "keychainfs",
                    moduleAliases: ["LocalAuthentication": "KeychainAuthentication"]),
            ])
    ])
