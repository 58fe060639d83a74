"""The curl examples of the HTTP reference are calls that the service answers."""

import re
import shlex
from pathlib import Path

from fakes.instance import Instance

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "http.md"
CALLS = re.findall(r"^curl .*$", PAGE.read_text(), re.MULTILINE)
VALUES = {"CONTEST": "spring", "BOARD": "user-score", "ID": "u0", "TABLE": "users"}


def test_the_examples_that_read_a_contest_are_answered(instance: Instance) -> None:
    """Each is sent as written, with a contest, its board and a participant for the capitals."""
    instance.contest()
    answered, refused = [], []
    for call in CALLS:
        words = shlex.split(call.replace("$AGON_TOKEN", instance.tokens["operator"]))
        path = re.sub(r"[A-Z]+(?=/|[?]|$)", lambda name: VALUES.get(name[0], name[0]),
                      words[-1].removeprefix("$AGON_SERVER"))  # fmt: skip
        if "/u0" in path and "/boards/" not in path:
            continue  # another resource's id, which this contest does not have
        if "-X" in words or re.search(r"[A-Z]{2}|events", path):
            continue
        headers = dict([words[words.index("-H") + 1].split(": ")] if "-H" in words else [])
        response = instance.client.get(path, headers=headers)
        other = re.search(r"is a community contest|name an arena", response.text)
        if response.status_code >= 400 and other is None:
            refused.append(f"{call}: {response.text}")
        answered.append(path)
    assert refused == []
    assert len(answered) > 20
    assert "/api/v1/contests/spring/boards/user-score" in answered
