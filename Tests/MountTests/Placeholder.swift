// MountTests
