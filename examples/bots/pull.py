"""A bot that asks the arena for work: it needs no address of its own.

AGON_SERVER=https://… AGON_TOKEN=… python3 pull.py CONTEST BOT
"""

import hashlib
import json
import os
import sys
import time
import urllib.error
import urllib.request

if len(sys.argv) != 3:
    sys.exit(__doc__)
CONTEST, BOT = sys.argv[1:]
URL = f"{os.environ['AGON_SERVER']}/api/v1/contests/{CONTEST}"
HEADERS = {
    "authorization": f"Bearer {os.environ['AGON_TOKEN']}",
    "content-type": "application/json",
}
WORDS = """tea rain Tuesday bread grandma keys bus socks soup garden radio cousin salt bicycle
train pillow onions stairs mustard window harbor umbrella pigeons coffee""".split()


def call(method, path, value=None):
    """Return the JSON of a response."""
    body = None if value is None else json.dumps(value).encode()
    request = urllib.request.Request(URL + path, body, HEADERS, method=method)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def reply_to(work):
    """Answer work; this is the part to change."""
    if work["kind"] == "vote":
        return {"vote": min("A", "B", key=lambda label: len(work["answers"][label]))}
    draw = hashlib.sha256(f"{BOT} {work['prompt']}".encode()).digest()  # bots differ
    words = ", ".join(WORDS[byte % len(WORDS)] for byte in draw[:6])
    return {"text": f"hm. {words}. ask me again later"[: work["max_chars"]]}


state = None
while True:
    try:
        items = call("GET", f"/bots/{BOT}/work?wait=25")["items"]
        for work in items:
            print("replying to", work["kind"], work["id"], flush=True)
            call("POST", f"/work/{work['id']}", reply_to(work))
        missing = [] if items else call("GET", "/next-round")["missing"]
        if not items and missing != state:
            print("waiting for", "; ".join(state := missing) or "the next round", flush=True)
    except urllib.error.HTTPError as error:
        print(error.code, error.read().decode(), file=sys.stderr)
        if error.code in {401, 403, 404}:
            sys.exit("correct token, contest or bot")
        time.sleep(0 if error.code == 410 else 5)  # 410: the deadline has passed
    except OSError as error:
        print(error, file=sys.stderr)
        time.sleep(5)
