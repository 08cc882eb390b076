// FuseTests
