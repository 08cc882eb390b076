"""A client of .keychainfs/rpc, written from docs/protocol.md alone."""
import os
import plistlib
import struct

NOT_FOUND, DUPLICATE, LOCKED, PARAM = -25300, -25299, -25308, -50


def frame(request, secret=b""):
    body = request if isinstance(request, bytes) else plistlib.dumps(request, fmt=plistlib.FMT_BINARY)
    return b"KCF\x01" + struct.pack(">IQ", len(body), len(secret)) + body + secret


class Client:
    def __init__(self, mount, groups=("default",)):
        self.fd = os.open(mount + "/.keychainfs/rpc", os.O_RDWR | os.O_CLOEXEC)
        self.groups = list(groups)
        self.piece = 1 << 20

    def close(self):
        os.close(self.fd)

    def send(self, data):
        while data:
            data = data[os.write(self.fd, data[:self.piece]):]

    def read(self, count):
        data = b""
        while len(data) < count:
            piece = os.read(self.fd, min(self.piece, count - len(data)))
            if not piece:
                raise EOFError("the answer ends in the middle")
            data += piece
        return data

    def answer(self):
        """The status and the result: none, one entry, or a list; a secret replaces its UID."""
        entries, frames = [], 0
        while True:
            magic, count, secret_count = struct.unpack(">4sIQ", self.read(16))
            assert magic == b"KCF\x01", magic
            part = plistlib.loads(self.read(count))
            secrets = [self.read(length) for length in part["secrets"]]
            assert sum(part["secrets"]) == secret_count
            entries += [self.entry(entry, secrets) for entry in part["entries"]]
            frames += 1
            if "status" in part:
                self.frames = frames
                if part["status"] != 0:
                    return part["status"], None
                return 0, entries if part["list"] else entries[0] if entries else None

    @staticmethod
    def entry(entry, secrets):
        if isinstance(entry, plistlib.UID):
            return secrets[entry.data]
        if isinstance(entry, dict) and "v_Data" in entry:
            entry["v_Data"] = secrets[entry["v_Data"].data]
        return entry

    def request(self, operation, query, attributes=None):
        request = {"operation": operation, "query": {"class": "genp", **query}, "accessGroups": self.groups}
        if attributes is not None:
            request["attributes"] = attributes
        return request

    def ask(self, operation, query, attributes=None, secret=None):
        if secret is not None:
            (query if attributes is None else attributes)["v_Data"] = plistlib.UID(0)
        self.send(frame(self.request(operation, query, attributes), secret or b""))
        return self.answer()

    def add(self, secret, **query):
        return self.ask("add", query, secret=secret)[0]

    def value(self, **query):
        status, value = self.ask("copyMatching", {**query, "r_Data": True})
        return status if status else value

    def all(self, **query):
        return self.ask("copyMatching", {**query, "m_Limit": "m_LimitAll"})

    def update(self, query, attributes, secret=None):
        return self.ask("update", query, attributes, secret)[0]

    def delete(self, **query):
        return self.ask("delete", query)[0]
