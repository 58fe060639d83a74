"""Contests from the command line: every command at a local database and at a real server."""

import json
import time
from functools import partial, reduce
from pathlib import Path

import pytest

from agon.ledger.directory import export_directory
from agon.ledger.entry import chain, genesis
from agon.ledger.heads import sign_head
from agon.ledger.signatures import public_key, sign
from cli.command import Cli, arena_folder
from cli.targets import Server, Target


def test_a_board_has_rows_explanations_history_and_proofs(target: Target, agon: Cli) -> None:
    """The board equals that of agon score for the same records."""
    name = target.contest
    board = target.scored()
    alone = agon("score", "arena", target.folder / "arena", "--format", "json").json()
    assert [(r["rank"], r["id"], r["score"]) for r in board["rows"]] == [
        (r["rank"], r["id"], r["score"]) for r in alone["rows"]
    ]
    assert board["board_sha256"] == alone["board_sha256"]
    table = target.good("contest", "board", name, "--top", 2)
    assert "1 more; --top 3" in table.out
    csv = target.good("contest", "board", name, "--format", "csv").out
    assert csv.startswith("rank,id,score,")
    around = target.good("contest", "board", name, "--around", "bob", "--top", 1,
                        "--format", "ndjson")  # fmt: skip
    assert json.loads(around.out)["id"] == "bob"
    explanation = target.json("contest", "explain", name, "ann")
    assert sum(part["points"] for part in explanation["parts"]) == pytest.approx(
        explanation["score"]
    )
    assert "match 1" in target.good("contest", "explain", name, "ann").out
    [step] = target.json("contest", "history", name, "ann")["steps"]
    assert step["score"] == explanation["score"]
    assert target("contest", "explain", name, "nobody").code == 3
    details = target.json("contest", "show", name)
    assert details["state"] == "open"
    assert [item["board"] for item in details["published"]] == ["bots", "judges", "bradley-terry"]
    drawn = target.good("contest", "show", name).out
    assert ("bradley-terry" in drawn, details["head"]["public_key"] in drawn) == (True, True)
    assert name in target.good("contest", "list", "--discipline", "arena", "--format", "csv").out
    draft = f"{name}-draft"
    target.good("contest", "create", draft, "--discipline", "arena", "--title", "D", "--draft")
    assert "not scanned yet" in target.good("contest", "findings", draft).out
    assert target.json("contest", "findings", name, "--scan")["seq"] == 12


@pytest.mark.exhaustive
def test_a_board_names_the_method_and_level_of_its_intervals(target: Target, agon: Cli) -> None:
    """Ends of intervals say nothing without their level."""
    records = (target.folder / "arena", "--set", "bradley_terry_regularisation=1")
    board = ("--board", "bradley-terry")
    scored = agon("score", "arena", *records, *board, "--format", "json").json()
    changed, expected = f"{target.contest}-90", {
        "method": "sandwich", "confidence": 0.9, "simultaneous": "neighbours"
    }  # fmt: skip
    assert scored["intervals"] == {**expected, "confidence": 0.95}
    target.good("contest", "create", changed, "--discipline", "arena", "--set", "confidence=0.9")
    target.good("contest", "add", changed, target.folder / "arena")
    read = ("contest", "board", changed, *board)
    page = target.until(lambda: target(*read, "--format", "json"), lambda page: page["seq"] > 10)
    assert page["intervals"] == expected
    heading = f"{changed} · bradley-terry · {page['edition']} with confidence=0.9 · 90 % intervals"
    assert heading in " ".join(target.good(*read).out.split())
    default = target.json("contest", "board", changed)
    assert default["intervals"] is None


def test_rows_are_searched_by_the_beginning_of_a_name_or_id(target: Target) -> None:
    """Users often know only the beginning."""
    name = target.contest
    output = target.good("contest", "board", name, "--find", "b")
    assert ("bob" in output.out, "1 of 3" in output.out) == (True, True)
    assert "1 of 3" in target.good("contest", "board", name, "--find", "B").out
    target.good("contest", "edit", name, "--names", "hidden")
    none = target.good("contest", "board", name, "--find", "B")
    assert "no scored name or id begins with 'B'; case matters in ids" in none.out
    assert target("contest", "board", name, "--find", "b", "--around", "bob").code == 2
    some = target.json("contest", "board", name, "--find", "b", "--top", 1)
    assert ([item["id"] for item in some["rows"]], "unscored" in some) == (["bob"], False)


def test_rows_are_sorted_and_filtered_by_a_column(target: Target) -> None:
    """As on the page of a board; ranks stay those of the board."""
    name = ("contest", "board", target.contest)
    board = target.json(*name)["rows"]
    ids = [row["id"] for row in board]
    reverse = target.json(*name, "--sort", "score")["rows"]
    assert [row["id"] for row in reverse] == ids[::-1]
    assert [row["rank"] for row in reverse] == [row["rank"] for row in board][::-1]
    best = ("--sort", "-score", "--minimum", board[0]["score"])
    assert [row["id"] for row in target.json(*name, *best)["rows"]] == ids[:1]
    shown = target.good(*name, "--sort", "provisional", "--values", "true", "--top", 1).out
    count = sum(row["provisional"] for row in board)
    assert f"{count - 1} more; --top {count}" in " ".join(shown.split())
    assert target(*name, "--sort", "score", "--find", "b").code == 2
    unknown = target(*name, "--sort", "scor")
    assert (unknown.code, "score" in unknown.err) == (2, True)


def test_records_are_added_once_and_errors_reported_together(target: Target) -> None:
    """Sources are NDJSON files and folders; a dry run adds nothing."""
    name, file = target.contest, target.folder / "votes.ndjson"
    assert (
        "0 added, 10 stored already"
        in target.good("contest", "add", name, target.folder / "arena").out
    )
    file.touch()
    for rows in ((), ("--table", "bots"), ("--dry-run",)):
        assert target.json("contest", "add", name, file, *rows)["added"] == 0
    file.write_text('{"id":"dan","owner_id":"o1","name":"Dan"}\n')
    dry = target.json("contest", "add", name, file, "--table", "bots", "--dry-run")
    assert dry["added"] == 1
    assert "1 added" in target.good("contest", "add", name, file, "--table", "bots").out
    assert target.scored(3, seq=13)["unscored"][0]["id"] == "dan"
    file.write_text('{"id":"eve","owner_id":"o9","name":"Eve"}\n{"id":7,"owner_id":"o1"}\nx\n')
    result = target("contest", "add", name, file, "--table", "bots")
    assert result.code == 2
    assert "line 2, column name" in result.err
    assert "line 3: 'x' is not JSON" in result.err
    file.write_text('{"id":"eve","owner_id":"o9","name":"Eve"}\n')
    unknown = target("contest", "add", name, file, "--table", "bots")
    assert (unknown.code, "o9" in unknown.err) == (2, True)
    file.write_text('{"id":"dan","owner_id":"o2","name":"Dan"}\n')
    assert target("contest", "add", name, file, "--table", "bots").code == 4
    replaced = target.json("contest", "add", name, file, "--table", "bots", "--replace")
    assert replaced["replaced"] == 1
    assert target("contest", "add", name, target.folder / "arena", "--table", "bots").code == 2
    assert target("contest", "add", name, target.folder / "none.ndjson").code == 3


@pytest.mark.exhaustive
def test_a_file_of_one_table_is_added_in_any_format(target: Target) -> None:
    """People have a table as a spreadsheet saves it; its lines are named, and what would change."""
    file = target.folder / "bots.csv"
    file.write_text("ID;Owner ID;Name;nmae\ndan;o1;Dan;x\n")
    add = ("contest", "add", target.contest, file, "--table", "bots")
    ended = target(*add)
    assert (ended.code, "1 added" in ended.out) == (0, True)
    assert "not used: nmae" in ended.err
    file.write_text('ID;Name;qualified\ndan;"Dan\nthe first";2026-01-01\neve;;yesterday\n')
    ended = target(*add)
    assert ended.code == 2
    assert "did you mean qualified_at? rename it, or leave it out (--ignore NAME)" in ended.err
    assert "line 4 (row 2), column Name: is empty" in ended.err
    assert "without these rows: line 2: the record bots/dan is entry" in ended.err
    file.write_text("id;name;owner_id\neve;;o1\nfay;Fay;o77\n")
    ended = target(*add)
    assert "line 2 (row 1), column name: is empty" in ended.err
    assert "without these rows: 1 issue in the records:" in ended.err
    assert "line 3, column owner_id: 'o77' is not in owners.id" in ended.err
    assert "--skip-missing" in ended.err
    file.write_text('id;name;owner_id\ndan;"Dan\nthe first";o1\neve;Eve;o77\n')
    ended = target(*add, "--replace")
    assert "line 4, column owner_id: 'o77' is not in owners.id" in ended.err
    file.write_text("id;name;owner_id\ndan;Daniel;o1\n")
    assert "line 2: the record bots/dan is entry" in target(*add).err
    assert "or give it an id of its own if it is another record" in target(*add).err
    ended = target.good(*add, "--replace", "--dry-run")
    assert "bots/dan: name Dan → Daniel" in ended.err
    lines = target.folder / "more.ndjson"
    lines.write_text('{"id":"fay","name":"Fay","qualified":"x"}\n')
    more = ("contest", "add", target.contest, lines, "--table", "bots")
    assert "or name it in ignore" in target(*more).err
    assert "1 added" in target.good(*more, "--ignore", "qualified").out


def test_a_rescoring_is_reviewed_applied_and_rolled_back(target: Target) -> None:
    """Without a terminal, --yes is required to apply a change."""
    name = target.contest
    before = target.scored()["board_sha256"]
    rescore = ("contest", "rescore", name, "--set", "k_new=64")
    events = target.good(*rescore, "--dry-run")
    assert "bots: 3 of 3 move" in events.out
    assert "nothing was changed" in events.err
    assert target.scored()["board_sha256"] == before
    assert target(*rescore).code == 2
    summary = target.json(*rescore, "--yes", "--reason", "as announced")
    assert (summary["state"], summary["reason"]) == ("applied", "as announced")
    after = target.scored(3, seq=summary["applied_at"])
    assert after["board_sha256"] != before
    assert after["overrides"] == {"k_new": 64.0}
    undone = target.json("contest", "rollback", name, summary["id"], "--reason", "a mistake")
    assert target.scored(3, seq=undone["rolled_back_at"])["board_sha256"] == before
    states = [item["state"] for item in target.json("contest", "changes", name)["changes"]]
    assert states == ["cancelled", "cancelled", "rolled-back"]
    assert "as announced" in target.good("contest", "changes", name, summary["id"]).out
    assert target.json("contest", "changes", name, summary["id"])["state"] == "rolled-back"
    assert target("contest", "rollback", name, summary["id"], "--reason", "again").code == 4
    assert target(*rescore[:3], "--edition", "no-such", "--yes").code == 3


@pytest.mark.exhaustive
def test_void_removes_records_from_the_score(target: Target) -> None:
    """Records are selected by key or participant, and a reason is required."""
    name = target.contest
    void = ("contest", "void", name, "--reason", "cast by mistake")
    assert target(*void).code == 2
    assert target(*void, "--record", "matches/99", "--yes").code == 3
    summary = target.json(*void, "--record", "matches/1", "--yes")
    board = target.scored(3, seq=summary["applied_at"])
    assert next(row["matches"] for row in board["rows"] if row["id"] == "bob") == 1
    person = target.good(*void, "--person", "cy", "--dry-run")
    assert "cy" in person.out


@pytest.mark.exhaustive
def test_merge_moves_the_records_of_a_duplicate(target: Target) -> None:
    """It is tried first, asks for a reason, and is undone by its id."""
    merge = ("contest", "merge", target.contest, "cy", "bob")
    assert target(*merge).code == 2
    why = ("--reason", "signed up twice")
    assert target("contest", "merge", target.contest, "bob", "bob", *why, "--yes").code != 0
    assert "cy" in target.good(*merge, *why, "--dry-run").out
    target.scored(3)
    summary = target.json(*merge, *why, "--yes")
    board = target.scored(2, seq=summary["applied_at"])
    assert "cy" not in {row["id"] for row in board["rows"]}
    undone = target.json("contest", "rollback", target.contest, summary["id"], *why)
    target.scored(3, seq=undone["rolled_back_at"])


def test_void_without_matching_records_is_rejected_and_listed_with_failed_jobs(
    target: Target,
) -> None:
    """A typo must fail immediately instead of after five minutes."""
    began = time.monotonic()
    result = target("contest", "void", target.contest, "--person", "nobody", "--reason", "r",
                    "--dry-run")  # fmt: skip
    assert (result.code, "no record about 'nobody' counts" in result.err) == (4, True)
    assert time.monotonic() - began < 120  # earlier it waited 300 seconds for a failed job
    [change] = target.json("contest", "changes", target.contest)["changes"]
    assert change["state"] == "cancelled"
    if target.far:
        failed = target.good("jobs", "list", "--contest", target.contest, "--state", "failed").out
        assert "no record about 'nobody' counts" in failed
        assert "agon jobs retry" in failed


def test_a_contest_is_edited_and_its_start_and_end_are_shown(target: Target) -> None:
    """Options that are left out change nothing, and an edit that changes nothing adds no entry."""
    name = f"{target.contest}-cup"
    times = ("--starts", "2030-12-01", "--ends", "2030-12-24T18:00+01:00")
    created = target.good("contest", "create", name, "--discipline", "arena", *times).out
    assert "starts 2030-12-01 00:00:00 UTC · ends 2030-12-24 17:00:00 UTC" in created
    edit = ("contest", "edit", name, "--title", "Winter Cup", "--ends", "none")
    tried = target.good(*edit, "--dry-run").out
    assert ("entry 2" in tried, "title: Winter Cup" in tried) == (True, True)
    assert target.json("contest", "show", name)["title"] == name
    edited = [target.json(*edit) for _ in range(2)]
    assert [(line["title"], line["ends_at"], line["seq"]) for line in edited] == [
        ("Winter Cup", None, 3)
    ] * 2
    assert "starts: 2030-12-01 00:00:00 UTC" in target.good("contest", "show", name).out
    assert "2030-12-01T00:00:00Z" in target.good("contest", "list", "--format", "csv").out
    for options, code in (
        (("--ends", "2029-01-01"), 2),
        (("--starts", "tomorrow"), 2),
        ((), 2),
        (("--title", ""), 2),
    ):
        ended = target("contest", "edit", name, *options)
        assert (ended.code, "Traceback" in ended.err) == (code, False)


@pytest.mark.exhaustive
def test_a_final_contest_accepts_no_records(target: Target) -> None:
    """Every step out of order is rejected as a conflict."""
    name = target.contest
    assert target.json("contest", "freeze", name)["state"] == "frozen"
    assert target("contest", "freeze", name).code == 4
    assert target("contest", "unfreeze", name).code == 2
    assert target.json("contest", "unfreeze", name, "--reason", "go on")["state"] == "open"
    assert target.json("contest", "finalize", name)["state"] == "final"
    file = target.folder / "late.ndjson"
    file.write_text('{"id":"late","owner_id":"o1","name":"Late"}\n')
    late = target("contest", "add", name, file, "--table", "bots")
    assert late.code == 4
    assert "change set" in late.err
    season = target.json("contest", "season", name, "--as", f"{name}-2")
    assert (season["state"], season["season"]) == ("draft", 2)
    assert target.json("contest", "open", f"{name}-2")["state"] == "open"


def test_a_ledger_is_exported_replayed_and_imported(target: Target, agon: Cli) -> None:
    """Contest, folder and another instance give the published hash."""
    name, out = target.contest, target.folder / "out"
    published = target.scored()["board_sha256"]
    target.good("contest", "export", name, "--out", out)
    assert target("contest", "export", name, "--out", out).code == 4
    here = agon("replay", out, "--check", published, "--format", "json")
    assert here.code == 0, here.err
    there = target.json("replay", name, "--check", published)
    assert here.json() == there
    assert (there["board_sha256"], there["seq"]) == (published, 12)
    early = agon("replay", out, "--at", 11, "--format", "json").json()
    assert early["board_sha256"] != published
    timed = agon("replay", out, "--at", "2100-01-01T00:00:00Z", "--format", "json").json()
    assert timed["board_sha256"] == published
    other = f"sqlite:///{target.folder}/other.db"
    assert "would import" in agon("contest", "import", out, "--dry-run").err
    assert agon("contest", "import", out, "--as", "other", "--database", other).code == 4
    assert agon("contest", "import", out, "--database", other).code == 0
    again = agon("contest", "board", name, "--database", other, "--format", "json").json()
    assert again["board_sha256"] == published
    agon("contest", "export", name, "--database", other, "--out", target.folder / "again")
    for file in out.iterdir():
        assert file.read_bytes() == (target.folder / "again" / file.name).read_bytes()


def test_a_wrong_hash_and_a_tampered_folder_are_reported(target: Target, agon: Cli) -> None:
    """The exit code is 1; the message has both hashes, or file and line."""
    out = target.folder / "out"
    target.good("contest", "export", target.contest, "--out", out)
    wrong = agon("replay", out, "--check", "0" * 64)
    assert wrong.code == 1
    assert "0" * 64 in wrong.err
    assert target.scored()["board_sha256"] in wrong.err
    entries = (out / "ledger.ndjson").read_bytes().splitlines(keepends=True)
    entries[6] = entries[6].replace(b'"name":"', b'"name":"x')
    (out / "ledger.ndjson").write_bytes(b"".join(entries))
    tampered = agon("replay", out)
    assert tampered.code == 1
    assert "heads.ndjson, line 1: the head signed at 12" in tampered.err
    (out / "ledger.ndjson").write_bytes(b"".join([*entries[:6], b"{}\n", *entries[7:]]))
    broken = agon("replay", out)
    assert broken.code == 1
    assert "ledger.ndjson, line 7" in broken.err
    assert broken.out == ""


def test_a_rewritten_ledger_is_detected(target: Target, agon: Cli) -> None:
    """A known key or a stored proof detects ledgers that were re-signed or are unsigned."""
    name, out, proof_file = target.contest, target.folder / "out", target.folder / "ann.json"
    target.good("contest", "proof", name, "ann", "--out", proof_file)
    target.good("contest", "export", name, "--out", out)
    key = bytes.fromhex(json.loads((out / "contest.json").read_text())["public_key"])
    good = agon("replay", out, "--public-key", key.hex())
    assert (good.code, "signed up to 12\n" in good.err) == (0, True)
    believed = agon("replay", out)
    assert f"by {key.hex()}; give --public-key to check" in believed.err
    lines = (out / "ledger.ndjson").read_bytes().replace(b'"by":"', b'"by":"x').splitlines()
    head = reduce(chain, lines, genesis(name))
    at = json.loads(lines[-1])["at"]
    mine = bytes(range(32))
    signed = sign_head(partial(sign, mine), contest=name, seq=len(lines), head=head, at=at)
    for heads, public in (([signed], public_key(mine)), ([], key)):
        folder = target.folder / f"forged{len(heads)}"
        export_directory(folder, contest=name, lines=lines, heads=heads, public_key=public)
        fits = agon("replay", folder)
        assert fits.code == 0
        assert ("its author is unknown" in fits.err) is (not heads)
        assert agon("replay", folder, "--public-key", key.hex()).code == 1
    rewritten = agon("replay", folder, "--proof", proof_file)
    assert rewritten.code == 1
    assert "entries were changed since" in rewritten.err


def test_a_proof_is_verified_without_a_server(target: Target, agon: Cli) -> None:
    """It is verified alone, with a known key, and with its ledger."""
    name, file, out = target.contest, target.folder / "ann.json", target.folder / "out"
    target.good("contest", "proof", name, "ann", "--out", file)
    target.good("contest", "export", name, "--out", out)
    key = json.loads((out / "contest.json").read_text())["public_key"]
    alone = agon("replay", "--proof", file, "--public-key", key)
    assert alone.code == 0
    assert json.loads(alone.out)["id"] == "ann"
    assert agon("replay", out, "--proof", file, "--public-key", key).code == 0
    assert agon("replay", "--proof", file, "--public-key", "0" * 64).code == 1
    assert agon("replay", "--proof", file, "--public-key", "0").code == 2
    assert agon("replay").code == 2
    file.write_text(file.read_text().replace('\\"score\\":997.0', '\\"score\\":999.0'))
    forged = agon("replay", "--proof", file)
    assert forged.code == 1
    assert "is not number" in forged.err


def test_a_token_without_contests_is_asked_about(target: Target) -> None:
    """A script that forgot --contest gets no token for more than it meant."""
    user = f"w{target.contest}"
    options = ("token", "create", "--user", user, "--role")
    for role in ("viewer", "participant", "judge", "organiser"):
        refused = target(*options, role)
        assert refused.code == 2
        assert f"without --contest this {role}'s token is for every public contest" in refused.err
        assert "name contests with --contest, or confirm with --yes" in refused.err
    assert user not in target.good("user", "list").out
    assert "every contest of this server" in target.good(*options, "worker").err
    listed = target.json("token", "list", "--user", user)["tokens"]
    assert [item["contests"] for item in listed] == ["all"]
    assert target.good(*options, "judge", "--yes").out.startswith("agon_")
    spans = [item["contests"] for item in target.json("token", "list", "--user", user)["tokens"]]
    assert sorted(spans) == ["all", "public"]


def test_tokens_and_users_are_managed(target: Target) -> None:
    """Only the token is printed on stdout; its permissions and expiry are on stderr."""
    user = f"u{target.contest}"
    token = target.good("token", "create", "--user", user, "--role", "organiser",
                      "--contest", target.contest, "--scope", "records", "--days", 1)  # fmt: skip
    [text] = token.out.split()
    assert text.startswith("agon_")
    tokens = target.json("token", "list", "--user", user)["tokens"]
    drawn = target.good("token", "list", "--user", user).out
    assert (tokens[0]["expires_at"][:10] in drawn, "none" in drawn) == (True, False)
    assert [item["scopes"] for item in tokens] == [["records"]]
    assert text.split("_", 2)[2] not in str(tokens)
    proof_file = target.folder / "new.token"
    assert (
        target.good(
            "token", "create", "--user", user, "--role", "viewer", "--yes", "--out", proof_file
        ).out
        == ""
    )
    assert proof_file.stat().st_mode & 0o777 == 0o600
    assert (
        target(
            "token", "create", "--user", user, "--role", "viewer", "--yes", "--out", proof_file
        ).code
        == 4
    )
    assert "is revoked" in target.good("token", "revoke", tokens[0]["id"]).out
    assert target("token", "revoke", "none").code == 3
    other = f"{user}-2"
    assert other in target.good("user", "create", other, "--name", "Ada").out
    assert target("user", "create", other).code == 4
    assert "is disabled" in target.good("user", "disable", other).out
    assert "is enabled" in target.good("user", "disable", other, "--undo").out
    rows = target.good("user", "list", "--format", "ndjson").out.splitlines()
    assert other in [json.loads(row)["id"] for row in rows]


def test_people_join_by_invitation(target: Target, agon: Cli) -> None:
    """At a server the link alone says where; a revoked invitation is not valid."""
    name, user = target.contest, f"{target.contest}-ada"
    invited = target.good("contest", "invite", name, "--note", "mail", "--max-uses", 2)
    link = invited.out.strip()
    assert ("2 times" in invited.err, "shown only once" in invited.err) == (True, True)
    assert ("/join#invite_" in link) == target.far
    join = ("contest", "join", link, *(() if target.far else target.options))
    file = target.folder / "ada.token"
    joined = agon(*join, "--user", user, "--out", file)
    assert (joined.code, joined.out) == (0, "")
    assert f"token of {user}, participant of {name}, until" in joined.err
    assert file.read_text().startswith("agon_")
    assert agon(*join, "--user", user).code == 4
    assert agon(*join, "--user", "No Name").code == 2
    listed = target.json("contest", "invitations", name)["invitations"]
    assert [(line["note"], line["uses"], line["max_uses"]) for line in listed] == [("mail", 1, 2)]
    target.good("contest", "invitations", name, "--revoke", listed[0]["id"])
    assert agon(*join, "--user", f"{user}-2").code == 3


def test_people_who_join_with_approval_wait_for_it(target: Target, agon: Cli) -> None:
    """A link that is passed on lets nobody judge: the organizer decides about each person."""
    name, users = target.contest, [f"{target.contest}-{each}" for each in ("judy", "eve")]
    link = target.good(
        "contest", "invite", name, "--role", "judge", "--max-uses", 2, "--approval"
    ).out.strip()  # fmt: skip
    join = ("contest", "join", link, *(() if target.far else target.options))
    for user in users:
        assert "an organizer has to approve it" in agon(*join, "--user", user).err
    waiting = target.json("contest", "join-requests", name)["join_requests"]
    assert [(row["user"], row["role"]) for row in waiting] == [(user, "judge") for user in users]
    approve, reject = (row["id"] for row in waiting)
    left = target.json("contest", "join-requests", name, "--approve", approve)["join_requests"]
    assert [row["id"] for row in left] == [reject]
    assert target.json("contest", "join-requests", name, "--reject", reject)["join_requests"] == []
    assert target("contest", "join-requests", name, "--approve", reject).code == 3


def test_jobs_are_listed_and_the_queue_is_paused(target: Target) -> None:
    """Operators need both to maintain an instance."""
    try:
        assert target.json("jobs", "pause")["paused"]
        target.good("contest", "open", target.json(
            "contest", "season", target.contest, "--as", f"{target.contest}-j")["id"])  # fmt: skip
        file = target.folder / "one.ndjson"
        file.write_text('{"id":"o1","handle":"one"}\n')
        target.good("contest", "add", f"{target.contest}-j", file, "--table", "owners")
        [job] = target.json("jobs", "list", "--contest", f"{target.contest}-j")["jobs"]
        assert (job["kind"], job["state"]) == ("publish", "queued")
        target.until(lambda: target("jobs", "queue", "--format", "json"), lambda q: not q["leased"])
        assert "drained: agon jobs resume" in target.good("jobs", "queue").out
        details = target.good("jobs", "show", job["id"]).out
        assert all(
            said in details for said in ("state: queued", "not before: 20", "attempts: 0 of")
        )
        assert target.json("jobs", "show", job["id"])["id"] == job["id"]
        assert target("jobs", "show", "none").code == 3
        assert "cancelled" in target.good("jobs", "cancel", job["id"]).out
        assert "queued" in target.good("jobs", "retry", job["id"]).out
        assert "paused" in target.good("jobs", "queue").out
    finally:
        assert not target.json("jobs", "resume")["paused"]
    assert target("jobs", "cancel", "none").code == 3


def test_a_server_shows_nothing_private_without_a_token(server: Server, agon: Cli) -> None:
    """Invalid tokens and unreachable servers have their own errors."""
    options = ("--server", server.url, "--token-file", server.token_file)
    token = agon("contest", "create", "secret-one", "--discipline", "arena", "--private", *options)
    assert token.code == 0
    assert agon("contest", "show", "secret-one", *options).code == 0
    assert agon("contest", "show", "secret-one", "--server", server.url).code == 3
    assert agon("contest", "freeze", "secret-one", "--server", server.url).code == 4
    assert agon("token", "list", "--server", server.url).code == 4
    both = ("--server", server.url, "--database", "sqlite:///x.db")
    assert agon("contest", "list", *both).code == 2


@pytest.mark.exhaustive
def test_a_client_follows_the_events_of_a_contest(
    server: Server, agon: Cli, tmp_path: Path
) -> None:
    """It reads up to the published board, then resumes after a given event."""
    from agon.client import Client

    options = ("--server", server.url, "--token-file", server.token_file)
    agon("contest", "create", "followed", "--discipline", "arena", *options)
    agon("contest", "add", "followed", arena_folder(tmp_path / "arena"), *options)
    with Client(server.url) as client:
        seen = []
        for event in client.events.follow("followed", since="0"):
            seen.append(event)
            if event.kind == "snapshot-published":
                break
        assert len({item.id for item in seen}) == len(seen)
        again = next(client.events.follow("followed", since=seen[-2].id))
        assert again == seen[-1]


def test_a_token_is_read_from_the_environment_or_a_file(
    server: Server, agon: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Other users could read it on the command line."""
    monkeypatch.setenv("AGON_SERVER", server.url)
    monkeypatch.setenv("AGON_TOKEN", server.token_file.read_text().strip())
    assert agon("token", "list").code == 0
    assert agon("contest", "list", "--database", f"sqlite:///{tmp_path}/none.db").code == 3
    (tmp_path / "bad").write_text("two words")
    assert agon("token", "list", "--token-file", tmp_path / "bad").code == 2
    assert "token" not in [word.lstrip("-") for word in agon("token", "list", "--help").out.split()
                           if word.startswith("--")]  # fmt: skip


@pytest.mark.exhaustive
def test_a_folder_is_replayed_locally_despite_a_configured_server(
    agon: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Replaying a ledger needs no server."""
    url, out = f"sqlite:///{tmp_path}/agon.db", tmp_path / "out"
    agon("contest", "create", "spring", "--discipline", "arena", "--database", url)
    agon("contest", "add", "spring", arena_folder(tmp_path / "arena"), "--database", url)
    agon("contest", "export", "spring", "--out", out, "--database", url)
    monkeypatch.setenv("AGON_SERVER", "http://127.0.0.1:9")
    monkeypatch.setenv("AGON_TOKEN", "agon_none")
    replayed = agon("replay", out)
    assert replayed.code == 0
    assert "board_sha256 " in replayed.out
    assert "signed up to 12" in replayed.err
    assert agon("contest", "show", "spring", "--database", url).code == 0


def test_a_missing_database_is_an_error(agon: Cli, tmp_path: Path) -> None:
    """Reading must not create a database."""
    url = f"sqlite:///{tmp_path}/none.db"
    for command in (("contest", "list"), ("contest", "show", "x"), ("token", "list"),
                    ("db", "verify"), ("db", "current"), ("replay", "x")):  # fmt: skip
        assert agon(*command, "--database", url).code == 3, command
    assert list(tmp_path.iterdir()) == []
