import Logging

/// What a user has to be told that no errno can tell. Never holds a name, an attribute or a secret.
let log = Logger(label: "keychainfs.tree")
