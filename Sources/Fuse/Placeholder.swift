// Fuse
