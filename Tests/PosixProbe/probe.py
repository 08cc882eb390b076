"""Prints a file system's answers to a few thousand questions, one line each.

The same program runs on a keychain and on a kernel file system, and `compare.py` reports the differences.

probe.py DIRECTORY [PART...]: directories can be created in it, and files in those."""

import os
import sys

from attributes import modes, timestamps, utimes, xattrs
from common import A, B, clear
from contents import contents
from descriptors import descriptors
from directories import directories, inodes
from events import events
from names import renames, unlinks
from opening import opens
from permissions import directory_permissions, file_permissions, owner_permissions
from ways import reads, writes

PARTS = (opens, unlinks, renames, contents, timestamps, utimes, modes, xattrs, descriptors, directories, inodes, events, reads, writes)

# For root, and on a mount that others may use: asked for by name only.
RESTRICTED = (file_permissions, owner_permissions, directory_permissions)

clear()
for part in PARTS + RESTRICTED:
    if part.__name__ in sys.argv[2:] or len(sys.argv) < 3 and part in PARTS:
        part()
clear()
os.rmdir(A)
os.rmdir(B)
