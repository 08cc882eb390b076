import Logging

/// Messages that no errno can convey. Must not contain a name, an attribute or a secret.
let log = Logger(label: "keychainfs.tree")
