"""A registry of container images on 127.0.0.1 that only knows the login of a user (OCI distribution, "GET /v2/").

Usage: registry.py FILE USER PASSWORD. Writes the port to FILE. Ends at the end of standard input.
"""
import base64
import http.server
import sys
import threading
from pathlib import Path

file, user, password = sys.argv[1:]
expected = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


class Registry(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        is_known = self.headers.get("Authorization") == expected
        self.send_response(200 if is_known else 401)
        if not is_known:
            self.send_header("WWW-Authenticate", 'Basic realm="test"')
        self.send_header("Docker-Distribution-Api-Version", "registry/2.0")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
threading.Thread(target=server.serve_forever, daemon=True).start()
Path(file).write_text(str(server.server_port), encoding="ascii")
sys.stdin.read()
