"""A bot that is asked by the arena: a web server with the standard library alone.

python3 push.py 8080                        to register it: it answers pings only
BOT_SECRET=whsec_… python3 push.py 8080     with the secret that registration returned
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = base64.b64decode(os.environ.get("BOT_SECRET", "").removeprefix("whsec_"))
seen = {}  # signature: when it was received


def is_valid(headers, body):
    """Check that a message was signed with the secret, within five minutes, and is no copy."""
    stamp = headers.get("webhook-timestamp", "")
    if not stamp.isdigit() or abs(time.time() - int(stamp)) > 300:
        return False
    signed = f"{headers.get('webhook-id', '')}.{stamp}.".encode() + body
    right = b"v1," + base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest())
    received = headers.get("webhook-signature", "").encode().split()
    for old in [old for old, at in seen.items() if time.time() - at > 600]:
        seen.pop(old, None)
    if not any(hmac.compare_digest(right, each) for each in received):
        return False
    return seen.setdefault(right, now := time.time()) is now


def reply_to(work):
    """Answer work; this is the part to change."""
    if work["kind"] == "ping":
        return {"nonce": work["nonce"]}
    if work["kind"] == "vote":
        return {"vote": min("A", "B", key=lambda label: len(work["answers"][label]))}
    return {"text": f"hm, {work['prompt'].lower()} good one"[: work["max_chars"]]}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        work = json.loads(body)
        valid = is_valid(self.headers, body) if SECRET else work["kind"] == "ping"
        reply = json.dumps(reply_to(work) if valid else {}).encode()
        self.send_response(200 if valid else 401)
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("", int(sys.argv[1])), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
