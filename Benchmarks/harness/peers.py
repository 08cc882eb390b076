"""Encrypting file systems that people use instead. Each has a directory of ciphertext and a mount."""
import os
import shutil

from .keychain import write_private
from .subject import Subject

PASSWORD = "benchmark"


class Peer:
    """Creates and mounts one in the foreground; `secret` is the standard input of its command."""
    name = ""
    lacks = frozenset()
    # What it wants besides the program of its name.
    variables = {}

    def prepare(self, scratch, cipher, environment, password_file):
        """Makes the file system in the empty directory `cipher`."""

    def command(self, cipher, mount_point, password_file):
        raise NotImplementedError

    secret = None


class Gocryptfs(Peer):
    name = "gocryptfs"

    def prepare(self, scratch, cipher, environment, password_file):
        # The least that it takes for a passphrase: what mounting costs is not measured.
        init = ["gocryptfs", "-init", "-q", "-scryptn", "10", "-passfile", password_file]
        scratch.run(*init, cipher, environment=environment)

    def command(self, cipher, mount_point, password_file):
        return ["gocryptfs", "-fg", "-q", "-nosyslog", "-passfile", password_file, cipher, mount_point]


class Securefs(Peer):
    name = "securefs"
    # Its lite format, the default, keeps no extended attributes.
    lacks = frozenset(["getxattr", "listxattr", "setxattr"])

    def prepare(self, scratch, cipher, environment, password_file):
        scratch.run("securefs", "create", "--pass", PASSWORD, cipher, environment=environment)

    def command(self, cipher, mount_point, password_file):
        return ["securefs", "mount", "--pass", PASSWORD, cipher, mount_point]


class Encfs(Peer):
    name = "encfs"
    secret = PASSWORD + "\n"

    def command(self, cipher, mount_point, password_file):
        # Makes the file system too, if the directory is empty.
        return ["encfs", "-f", "-S", "--standard", cipher, mount_point]


class Cryfs(Peer):
    name = "cryfs"
    lacks = frozenset(["getxattr", "listxattr", "setxattr"])
    variables = {"CRYFS_FRONTEND": "noninteractive", "CRYFS_NO_UPDATE_CHECK": "true"}
    secret = PASSWORD + "\n"

    def command(self, cipher, mount_point, password_file):
        return ["cryfs", "-f", cipher, mount_point]


PEERS = [Gocryptfs(), Securefs(), Encfs(), Cryfs()]


def installed():
    return [peer for peer in PEERS if shutil.which(peer.name)]


def mount_peer(bench, peer, items):
    """Mounted and populated with `items` secrets."""
    scratch = bench.scratch
    home = scratch.make_directory(peer.name)
    cipher, mount_point, password_file = (os.path.join(home, name) for name in ("cipher", "mnt", "password"))
    os.mkdir(cipher)
    os.mkdir(mount_point)
    write_private(password_file, PASSWORD)
    environment = scratch.environment(home, **peer.variables)
    peer.prepare(scratch, cipher, environment, password_file)
    process = scratch.start(peer.command(cipher, mount_point, password_file), environment, peer.secret)
    scratch.await_mount(mount_point, process)
    subject = Subject(peer.name, mount_point, mount_point, process, needs_sync=True, store=[cipher], lacks=peer.lacks)
    bench.meter.populate(subject, items)
    return subject
