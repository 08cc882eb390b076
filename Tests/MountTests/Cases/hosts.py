"""The hosts of docs/recipes.md on 127.0.0.1: an https server, a PostgreSQL server and an ssh server.

Usage: hosts.py DIRECTORY, with cert.pem and key.pem in it. Writes DIRECTORY/ports (three numbers) and appends one line to
DIRECTORY/requests for each login: "https HOST USER PASSWORD", "postgres USER DATABASE PASSWORD" or "ssh USER KEY"; "-" is none.
Ends at the end of standard input.
"""
import base64
import http.server
import os
import socket
import ssl
import struct
import sys
import threading
from pathlib import Path

import paramiko

directory = Path(sys.argv[1])


def record(*words):
    with open(directory / "requests", "a", encoding="utf-8") as file:
        print(*(word or "-" for word in words), file=file)


class Pages(http.server.BaseHTTPRequestHandler):
    """A page for the user alice, which /moved redirects to; an error page without a password."""

    def do_GET(self):
        user = password = ""
        if authorization := self.headers.get("Authorization"):
            user, _, password = base64.b64decode(authorization.split()[1]).decode().partition(":")
        record("https", self.headers["Host"].split(":")[0], user, password)
        status = 401 if user != "alice" or not password else 302 if self.path == "/moved" else 200
        page = b"report\n" if status == 200 else b"error page\n"
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/report")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_):
        pass


def serve_https():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "cert.pem", directory / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def listen(serve):
    """Calls the function with each connection, in a thread. Returns the port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def run():
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
    threading.Thread(target=run, daemon=True).start()
    return listener.getsockname()[1]


def exactly(connection, count):
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def serve_postgres(connection):
    """Asks for a password in clear text, accepts any, and answers each query with no rows. (protocol 3.0)"""
    def message(kind, body):
        connection.sendall(kind + struct.pack("!I", len(body) + 4) + body)
    try:
        while True:
            start = exactly(connection, struct.unpack("!I", exactly(connection, 4))[0] - 4)
            if struct.unpack("!I", start[:4])[0] == 196608:
                break
            connection.sendall(b"N")    # no TLS, no GSSAPI
        words = start[4:].decode().split("\0")
        options = dict(zip(words[::2], words[1::2]))
        message(b"R", struct.pack("!I", 3))
        exactly(connection, 1)
        password = exactly(connection, struct.unpack("!I", exactly(connection, 4))[0] - 4)[:-1].decode()
        record("postgres", options["user"], options["database"], password)
        message(b"R", struct.pack("!I", 0))
        message(b"Z", b"I")
        while exactly(connection, 1) == b"Q":
            exactly(connection, struct.unpack("!I", exactly(connection, 4))[0] - 4)
            message(b"C", b"SELECT 0\0")
            message(b"Z", b"I")
    except EOFError:
        # psql ends the connection if it has no password.
        record("postgres", "", "", "")
    finally:
        connection.close()


class Logins(paramiko.ServerInterface):
    """Accepts the user alice with the public key in DIRECTORY/authorized, and executes no command."""

    def get_allowed_auths(self, username):
        return "publickey,password"

    def check_auth_publickey(self, username, key):
        record("ssh", username, key.get_base64())
        allowed = (directory / "authorized").read_text(encoding="utf-8").split()[1]
        return paramiko.AUTH_SUCCESSFUL if (username, key.get_base64()) == ("alice", allowed) else paramiko.AUTH_FAILED

    def check_channel_request(self, kind, chanid):
        return paramiko.OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel, command):
        def answer():
            channel.sendall(b"executed\n")
            channel.send_exit_status(0)
            channel.close()
        threading.Thread(target=answer, daemon=True).start()
        return True


def serve_ssh(connection):
    transport = paramiko.Transport(connection)
    transport.add_server_key(host_key)
    try:
        transport.start_server(server=Logins())
        transport.join(30)
    except (paramiko.SSHException, EOFError):
        pass


host_key = paramiko.ECDSAKey.generate()
ports = f"{serve_https()} {listen(serve_postgres)} {listen(serve_ssh)}\n"
(directory / "ports.new").write_text(ports, encoding="utf-8")
os.rename(directory / "ports.new", directory / "ports")
sys.stdin.read()
