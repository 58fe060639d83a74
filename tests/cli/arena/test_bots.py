"""Authors try their bots without a server: matches as JSON lines, and checks of an endpoint."""

import json
import os
import sys
import threading
from pathlib import Path

import pytest

from agon.app.webhooks.signatures import format_secret
from agon.runners.bots.reference import MessageVerification, echo, serve_bot
from cli.command import Cli

SECRET = b"s" * 32
BOT = """
import json, sys
work = json.load(sys.stdin)
words = sys.argv[1:]
if work["kind"] == "vote":
    print(json.dumps({"vote": "A" if words[0] in work["answers"]["A"] else "B"}))
else:
    print(json.dumps({"text": " ".join(words) * (500 if words[0] == "long" else 1)}))
"""


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write a bot that answers with its arguments, and votes for the answer with the first.

    Draws depend on the names of bots and judges, which are their commands: these have no path.
    """
    (tmp_path / "bot.py").write_text(BOT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    return "python bot.py"


def test_matches_are_played_between_commands(agon: Cli, bot: str) -> None:
    """The judge sees each match in its own order, and finds the same bot in both."""
    words = ["arena", "play", "--bot", f"{bot} red", "--bot", f"{bot} blue sky", "--judge",
             f"{bot} blue", "--seed", "5", "--rounds", "6"]  # fmt: skip
    played = agon(*words)
    assert played.code == 0, played.err
    *matches, last = [json.loads(line) for line in played.out.splitlines()]
    assert [match["match"] for match in matches] == [f"r{number}-1" for number in range(1, 7)]
    for match in matches:
        assert match["kind"] == "rated"
        assert match[match["winner"]]["text"] == "blue sky"
    assert {match["votes"][0]["vote"] for match in matches} == {"A", "B"}
    assert {match["winner"] for match in matches} == {"a", "b"}
    blue = last["results"][f"{bot} blue sky"]
    assert blue == {"wins": 6, "losses": 0, "ties": 0, "faults": 0}


def test_copies_faults_and_long_answers_are_shown(agon: Cli, bot: str) -> None:
    """Three bots meet each other; a seed asks the same again."""
    words = ["arena", "play", "--bot", f"{bot} same text", "--bot", f"{bot} Text same!",
             "--bot", f"{bot} long", "--bot", "false"]  # fmt: skip
    first, second = agon(*words), agon(*words)
    matches = [json.loads(line) for line in first.out.splitlines()][:-1]
    assert [match["prompt"] for match in matches] == [
        json.loads(line)["prompt"] for line in second.out.splitlines()[:-1]
    ]
    assert [match["kind"] for match in matches] == [
        "skipped", "rated", "forfeit", "rated", "forfeit", "forfeit",
    ]  # fmt: skip
    sides = [match[side] for match in matches for side in "ab"]
    assert {len(side["text"]) for side in sides if side.get("cut")} == {400}
    assert {side["fault"]["code"] for side in sides if "fault" in side} == {"invalid"}
    assert {match["winner"] for match in matches} == {None}


def test_endpoints_play_and_are_examined_with_their_secret(agon: Cli, tmp_path: Path) -> None:
    """The exit code is for scripts: 1 when a check failed."""
    file, wrong = tmp_path / "bot.secret", tmp_path / "wrong.secret"
    file.write_text(f"{format_secret(SECRET)}\n")
    wrong.write_text(format_secret(b"w" * 32))
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("Tea?\n\n")
    with serve_bot(echo, verification=MessageVerification([SECRET])) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/"
        try:
            good = agon("arena", "doctor", url, "--secret-file", str(file))
            bad = agon("arena", "doctor", url, "--secret-file", str(wrong))
            without = agon("arena", "doctor", url)
            played = agon("arena", "play", "--bot", url, "--bot", url, "--secret-file", str(file),
                         "--prompts", str(prompts))  # fmt: skip
        finally:
            server.shutdown()
            thread.join()
    assert good.code == 0, good.out
    assert "ok       replayed signature: rejected with status 401" in good.out
    assert (bad.code, bad.out.splitlines()[0]) == (
        1, "failed   ping: status-401: only status 200 is an answer",
    )  # fmt: skip
    assert without.out.endswith("only status 200 is an answer; give --secret-file\n")
    assert "Error: 1 check failed" in without.err
    match = json.loads(played.out.splitlines()[0])
    assert (match["kind"], match["a"]["text"]) == ("skipped", "Tea?")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["play", "--bot", "true"], 2, "give --bot twice"),
        (["play", "--bot", "true", "--bot", "no-such-bot"], 3, "no command"),
        (["bot"], 2, "give --echo or --template FILE"),
        (["doctor", "127.0.0.1:8080"], 2, "needs http or https"),
        (["doctor", "http://"], 2, "has no host"),
        (["bot", "--template", "EMPTY"], 2, "has no line"),
        (["play", "--bot", "true", "--bot", "true", "--prompts", "EMPTY"], 2, "has no line"),
        (
            ["doctor", "http://127.0.0.1:1/", "--secret-file", "EMPTY.bad"],
            2,
            "not a webhook secret",
        ),
    ],
)
def test_wrong_use_says_what_to_do(
    agon: Cli, tmp_path: Path, words: list[str], code: int, message: str
) -> None:
    """Before anything is started."""
    (tmp_path / "EMPTY").write_text("\n")
    (tmp_path / "EMPTY.bad").write_text("whsec_short")
    paths = [str(tmp_path / word) if word.startswith("EMPTY") else word for word in words]
    ended = agon("arena", *paths)
    assert ended.code == code, ended.err
    assert message in ended.err


def test_bots_are_registered_described_and_listed(agon: Cli, tmp_path: Path) -> None:
    """A bot that asks for work has no secret, so nothing is on stdout; what is stated is listed."""
    database = ("--database", f"sqlite:///{tmp_path / 'agon.db'}")
    assert agon("contest", "create", "league", "--discipline", "arena", *database).code == 0
    owner = tmp_path / "rows" / "owners.ndjson"
    owner.parent.mkdir()
    owner.write_text(
        '{"table": "owners", "row": {"id": "ada", "handle": "ada", '
        '"account_created_at": "2026-01-01T00:00:00Z"}}\n'
    )
    assert agon("contest", "add", "league", owner, *database).code == 0
    named = ("arena", "register", "league", "Ada's", "--owner", "ada", "--author", "Ada")
    created = agon(*named, "--license", "MIT", *database)
    assert (created.code, created.out) == (0, ""), created.err
    assert "is registered" in created.err
    [bot] = agon("arena", "bots", "league", "--format", "json", *database).json()["bots"]
    assert (bot["author"], bot["license"], bot["link"]) == ("Ada", "MIT", "")
    link = ("--link", "https://example.org/")
    assert agon("arena", "change", "league", bot["id"], *link, "--pause", *database).code == 0
    [changed] = agon("arena", "bots", "league", "--format", "json", *database).json()["bots"]
    assert (changed["link"], changed["status"]) == ("https://example.org/", "paused")
    wrong = agon("arena", "change", "league", bot["id"], "--link", "example.org", *database)
    assert wrong.code == 2
    assert "is no web address; write one such as https://" in wrong.err
    nothing = agon("arena", "change", "league", bot["id"], *database)
    assert (nothing.code, "nothing to change" in nothing.err) == (2, True)
