// swift-tools-version: 6.2
// Targets are in layer order, from the top down: every target imports only targets that are declared below it.
// scripts/check-architecture checks that, and which targets may contain unsafe code or import C.
import PackageDescription

/// The settings of every target: language mode 6, no unmarked unsafe construct, no warning.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
/// Settings of adapters to C, which return `Span`s whose lifetime depends on their owner.
let adapter: [SwiftSetting] = strict + [.enableExperimentalFeature("Lifetimes")]
/// Settings of tests, which call C directly as clients.
let testing: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let system: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
    name: "keychainfs",
    products: [
        .executable(name: "keychainfs", targets: ["keychainfs"]),
        .library(name: "Fuse", targets: ["Fuse", "FileSystemCore"]),
        .library(name: "KeychainClient", targets: ["KeychainClient"]),
        .library(name: "KeychainFile", targets: ["KeychainFile"]),
        .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
        .library(name: "Security", targets: ["Security"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        // The program: commands only.
        .executableTarget(
            name: "keychainfs",
            dependencies: [
                "KeychainCommands", "KeychainMount", "DeviceState", "Keychain", "LinuxSupport", "SecretCrypto",
                "CWipingMalloc",
                argumentParser, logging, system,
            ],
            swiftSettings: strict),
        // The program's allocator: wipes what it frees. Never linked into a library.
        .target(name: "CWipingMalloc"),
        // Apple's Keychain Services, source compatible: typings, constants, SecItem functions. Its API has pointers.
        .target(
            name: "Security", dependencies: ["KeychainConnection", "KeychainRPC", "SecretCrypto"],
            swiftSettings: adapter),
        // The declarations of Apple's LocalAuthentication; each authentication fails. Its API has pointers.
        .target(name: "LocalAuthentication", swiftSettings: adapter),
        // The commands that read and write items: ordinary clients of a mount.
        .target(
            name: "KeychainCommands",
            dependencies: [
                "KeychainMount", "Fuse", "LinuxSupport", "KeychainTree", "KeychainConnection", "FileSystemCore",
                "Keychain",
                "SecretCrypto", system,
            ],
            exclude: ["Resources/README.md"], resources: [.embedInCode("Resources/eff-large-wordlist.txt")],
            swiftSettings: strict),
        // Composition: the only target that knows both the file system and the store.
        .target(
            name: "KeychainMount",
            dependencies: [
                "Fuse", "DeviceState", "LinuxSupport", "KeychainTree", "KeychainConnection", "KeychainServer",
                "KeychainStorage", "FileSystemCore", "Keychain", "KeychainRPC", "SecretCrypto", logging, system,
            ],
            swiftSettings: strict),
        // A keychain file opened in a process that runs no mount.
        .target(
            name: "KeychainFile",
            dependencies: [
                "KeychainClient", "KeychainConnection", "KeychainServer", "KeychainStorage", "DeviceState", "Keychain",
                "KeychainRPC", "SecretCrypto", "LinuxSupport",
            ],
            swiftSettings: strict),
        // The state of a device for its keychains, and its paths: device key, commit numbers, rekeys in progress.
        .target(
            name: "DeviceState", dependencies: ["LinuxSupport", "Keychain", "SecretCrypto", logging, system],
            swiftSettings: strict),
        // The Swift-native API of a keychain: typed, its secrets in locked memory.
        .target(
            name: "KeychainClient", dependencies: ["KeychainConnection", "KeychainRPC", "SecretCrypto"],
            swiftSettings: strict),
        // A client's connection to a mounted keychain: finds it, and waits for it with a timeout.
        .target(
            name: "KeychainConnection", dependencies: ["KeychainRPC", "LinuxSupport", "SecretCrypto", system],
            swiftSettings: strict),
        // The binding of libfuse's low-level API; independent of the keychain.
        .target(
            name: "Fuse", dependencies: ["FileSystemCore", "LinuxSupport", "CFuse3", system], swiftSettings: adapter),
        // Items as files and directories.
        .target(
            name: "KeychainTree",
            dependencies: ["FileSystemCore", "Keychain", "SecretCrypto", logging, system],
            swiftSettings: strict),
        // The server side of Keychain Services: requests to the query engine, results to frames.
        .target(
            name: "KeychainServer", dependencies: ["Keychain", "KeychainRPC", "SecretCrypto"],
            swiftSettings: strict),
        // Sealed records in SQLite.
        .target(
            name: "KeychainStorage",
            dependencies: ["SQLiteRows", "LinuxSupport", "Keychain", "SecretCrypto", grdb, system],
            swiftSettings: strict),
        // Rows and arguments of SQLite's statements; independent of the keychain.
        .target(
            name: "SQLiteRows",
            dependencies: ["CSQLiteRows", grdb, .product(name: "GRDBSQLite", package: "GRDB.swift")],
            swiftSettings: adapter),
        .target(name: "CSQLiteRows"),
        // Linux interfaces: clocks, threads, systemd, logind, file names; independent of the keychain.
        .target(name: "LinuxSupport", dependencies: ["CLinuxSupport", system], swiftSettings: adapter),
        .target(name: "CLinuxSupport"),
        // The terms of file systems and the protocol `FileSystem`.
        .target(name: "FileSystemCore", dependencies: [system], swiftSettings: strict),
        // The messages of Keychain Services between a client and a server; contains no terms of the keychain except
        // their keys.
        .target(name: "KeychainRPC", dependencies: ["SecretCrypto"], swiftSettings: adapter),
        // The domain: items, attributes, protection classes, keys, records; the protocol `RecordStore`.
        .target(name: "Keychain", dependencies: ["SecretCrypto"], swiftSettings: strict),
        // libsodium behind noncopyable secrets in locked memory.
        .target(name: "SecretCrypto", dependencies: ["CSodium"], swiftSettings: adapter),
        // Measures queries on a mount, and keychains of many items: scripts/benchmark-queries, scripts/benchmark.
        .executableTarget(
            name: "QueryBenchmark",
            dependencies: ["Security", "KeychainStorage", "Keychain", "DeviceState", "SecretCrypto"],
            path: "Benchmarks/QueryBenchmark", swiftSettings: testing),
        .systemLibrary(name: "CFuse3", pkgConfig: "fuse3", providers: [.apt(["libfuse3-dev"])]),
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),

        // Examples of programs; the tests run them.
        .executableTarget(
            name: "TokenStorage", dependencies: ["Security"], path: "Examples/TokenStorage",
            swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "Credentials", dependencies: ["Security"], path: "Examples/Credentials",
            swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "QueryableStore", dependencies: ["Security"], path: "Examples/QueryableStore",
            swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "NativeClient", dependencies: ["KeychainClient"], path: "Examples/NativeClient",
            swiftSettings: [.swiftLanguageMode(.v6)]),

        // Test support: the lanes of docs/testing.md, and reproducible random numbers.
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: testing),
        // Test support: a client of the FUSE protocol, a path-walking client, a client over a real mount.
        .target(
            name: "FileSystemTesting", dependencies: ["FileSystemCore", "Fuse", "LinuxSupport", "CFuse3", system],
            path: "Tests/FileSystemTesting", swiftSettings: testing),
        // Test support: a record store in memory that fails on request.
        .target(
            name: "KeychainTesting", dependencies: ["Keychain", "SecretCrypto", "TestSupport"],
            path: "Tests/KeychainTesting",
            swiftSettings: testing),
        // Test support: clients of the four functions of Keychain Services, and the transports of their calls.
        .target(
            name: "SecItemTesting",
            dependencies: ["Keychain", "KeychainRPC", "KeychainServer", "KeychainTesting", "SecretCrypto"],
            path: "Tests/SecItemTesting", swiftSettings: testing),
        .testTarget(
            name: "FuseTests",
            dependencies: [
                "Fuse", "FileSystemCore", "FileSystemTesting", "LinuxSupport", "TestSupport", "CFuse3", system,
            ],
            swiftSettings: testing),
        // Test support: counts allocations, and finds data in freed memory.
        .target(name: "CMemoryProbe", path: "Tests/CMemoryProbe"),
        // Test support: counts instructions.
        .target(name: "CInstructionCounter", path: "Tests/CInstructionCounter"),
        .testTarget(
            name: "SecretCryptoTests",
            dependencies: ["SecretCrypto", "TestSupport", "CMemoryProbe", "CSodium", "CWipingMalloc"],
            swiftSettings: testing),
        .testTarget(
            name: "KeychainRPCTests", dependencies: ["KeychainRPC", "KeychainTesting", "SecretCrypto", "TestSupport"],
            swiftSettings: testing),
        .testTarget(
            name: "KeychainTests",
            dependencies: ["Keychain", "KeychainTesting", "SecItemTesting", "SecretCrypto", "TestSupport"],
            swiftSettings: testing),
        // The cases of the Keychain Services reference, on every transport to the query engine.
        .testTarget(
            name: "SecItemTests",
            dependencies: [
                "Security", "KeychainMount", "KeychainConnection", "KeychainTree", "KeychainServer", "KeychainRPC",
                "Keychain",
                "KeychainTesting", "SecItemTesting", "FileSystemTesting", "FileSystemCore", "Fuse", "SecretCrypto",
                "TestSupport", system,
            ],
            swiftSettings: testing),
        .testTarget(
            name: "KeychainServerTests",
            dependencies: [
                "KeychainServer", "Keychain", "KeychainRPC", "KeychainTesting", "SecretCrypto", "TestSupport",
            ],
            swiftSettings: testing),
        .testTarget(
            name: "KeychainStorageTests",
            dependencies: [
                "LinuxSupport", "KeychainStorage", "Keychain", "KeychainTesting", "SecretCrypto", "CMemoryProbe",
                "TestSupport", grdb,
                system,
            ],
            swiftSettings: testing),
        // Test support: a VFS below SQLite that records every write and fails on request.
        .target(
            name: "CFaultVFS", path: "Tests/CFaultVFS", linkerSettings: [.linkedLibrary("sqlite3")]),
        .testTarget(
            name: "CrashTests",
            dependencies: [
                "CFaultVFS", "KeychainStorage", "Keychain", "LinuxSupport", "KeychainTesting", "SecretCrypto",
                "TestSupport",
            ],
            swiftSettings: testing),
        .testTarget(
            name: "KeychainTreeTests",
            dependencies: [
                "CInstructionCounter", "CMemoryProbe", "KeychainTree", "KeychainTesting", "FileSystemTesting",
                "FileSystemCore", "Keychain", "SecretCrypto", system,
            ],
            swiftSettings: testing),
        .testTarget(
            name: "ConformanceTests",
            dependencies: [
                "KeychainTree", "KeychainTesting", "FileSystemTesting", "FileSystemCore", "Fuse", "Keychain",
                "KeychainStorage", "SecretCrypto", "TestSupport", system,
            ],
            swiftSettings: testing),
        // Test support: the contract as plain values, and random programs to compare with it.
        .target(
            name: "ModelTesting",
            dependencies: ["FileSystemTesting", "FileSystemCore", "KeychainRPC", "SecretCrypto", system],
            path: "Tests/ModelTesting", swiftSettings: testing),
        // Test support: a process of such a program on a mount.
        .executableTarget(
            name: "ModelProcess", dependencies: ["ModelTesting", "FileSystemTesting", "FileSystemCore", system],
            path: "Tests/ModelProcess", swiftSettings: testing),
        .testTarget(
            name: "ModelTests",
            dependencies: [
                "keychainfs", "ModelProcess", "ModelTesting", "CFaultVFS", "KeychainMount", "KeychainTree",
                "KeychainTesting",
                "KeychainStorage", "FileSystemTesting", "FileSystemCore", "Keychain", "SecretCrypto", "TestSupport",
                system,
            ],
            swiftSettings: testing),
        .testTarget(
            name: "KeychainMountTests",
            dependencies: [
                "KeychainMount", "DeviceState", "KeychainTree", "FileSystemCore", "FileSystemTesting", "Keychain",
                "KeychainStorage", "KeychainTesting", "SecretCrypto", "LinuxSupport", system,
            ],
            swiftSettings: testing),
        .testTarget(
            name: "KeychainCommandsTests",
            dependencies: ["KeychainCommands", "KeychainMount", "Keychain", "SecretCrypto"],
            swiftSettings: testing),
        // Test support: a keychain in memory for the SecItem functions of a test.
        .target(
            name: "SecurityTesting",
            dependencies: [
                "Keychain", "KeychainConnection", "KeychainRPC", "KeychainServer", "KeychainTesting", "SecretCrypto",
            ],
            path: "Tests/SecurityTesting", swiftSettings: testing),
        // Test support: the SecItem functions for the cases of a mount.
        .executableTarget(
            name: "SecItemProgram", dependencies: ["Security"], path: "Tests/SecItemProgram", swiftSettings: testing),
        .testTarget(
            name: "SecurityTests",
            dependencies: [
                "Security", "SecurityTesting", "Keychain", "KeychainConnection", "KeychainRPC", "SecretCrypto",
            ],
            swiftSettings: testing),
        // Code as it was written for Apple's systems, compiled unchanged.
        .testTarget(
            name: "SourceCompatibilityTests", dependencies: ["LocalAuthentication", "Security", "SecurityTesting"],
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .testTarget(
            name: "SourceCompatibility6Tests", dependencies: ["LocalAuthentication", "Security", "SecurityTesting"],
            swiftSettings: [.swiftLanguageMode(.v6)]),
        .testTarget(
            name: "KeychainClientTests",
            dependencies: [
                "KeychainClient", "KeychainRPC", "KeychainServer", "Keychain", "KeychainTesting", "SecretCrypto",
            ],
            swiftSettings: testing),
        .testTarget(
            name: "KeychainFileTests",
            dependencies: ["KeychainFile", "KeychainClient", "Security", "SecretCrypto", grdb], swiftSettings: testing),
        .testTarget(
            name: "KeychainConnectionTests",
            dependencies: ["KeychainConnection", "KeychainRPC", "SecretCrypto", system], swiftSettings: testing),
        .testTarget(
            name: "LinuxSupportTests", dependencies: ["LinuxSupport", system], swiftSettings: testing),
        // Test support: every decoder of untrusted bytes with the properties that must hold for all inputs; and its
        // program, which scripts/fuzz links with libFuzzer.
        .target(
            name: "Fuzzing",
            dependencies: [
                "KeychainCommands", "KeychainMount", "DeviceState", "KeychainTree", "KeychainServer", "KeychainStorage",
                "KeychainTesting",
                "FileSystemTesting", "FileSystemCore", "Keychain", "KeychainRPC", "SecretCrypto", "CFuse3", system,
            ],
            path: "Tests/Fuzzing", exclude: ["Corpus"], swiftSettings: testing),
        .target(name: "CFuzzer", path: "Tests/CFuzzer"),
        .executableTarget(
            name: "Fuzzer", dependencies: ["Fuzzing", "CFuzzer"], path: "Tests/Fuzzer", swiftSettings: testing),
        .testTarget(
            name: "FuzzingTests", dependencies: ["Fuzzing", "KeychainTesting", "TestSupport"], swiftSettings: testing),
        .testTarget(
            name: "MountTests",
            dependencies: [
                "keychainfs", "KeychainMount", "KeychainConnection", "KeychainClient", "DeviceState", "Keychain",
                "KeychainTesting", "KeychainRPC", "SecretCrypto", "TokenStorage", "Credentials", "QueryableStore",
                "NativeClient", "SecItemProgram", "TestSupport",
            ],
            exclude: ["Cases", "SlowDisk", "optimized.sh"], swiftSettings: testing),
    ]
)

// KEYCHAINFS_ONLY=TESTTARGET: that target and its dependencies. SwiftPM links all test targets into one bundle, so without it a
// change of a low layer compiles all of them (scripts/test --quick TARGET).
if let only = Context.environment["KEYCHAINFS_ONLY"], !only.isEmpty {
    guard let chosen = package.targets.first(where: { $0.type == .test && $0.name == only }) else {
        fatalError("KEYCHAINFS_ONLY names no test target: \(only)")
    }
    let needed = chosen.dependencies.compactMap { dependency in
        if case .byNameItem(let name, _) = dependency { name } else { nil }
    }
    package.targets.removeAll { target in
        switch target.type {
        case .test: target.name != only
        case .executable: !needed.contains(target.name)
        default: false
        }
    }
    package.products = []
}
