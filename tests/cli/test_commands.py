"""The output of each command as a table and as JSON."""

import hashlib
import json
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree as ET

import click
import pytest

import agon.cli
from agon.cli.explain import waterfall
from agon.cli.root import cli as root
from agon.disciplines import discipline as definition
from cli.command import MATCHES, Cli
from fakes.demo import Demo
from sizes import ALL


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["ann", "bob", "cy"])
def test_explain_prints_the_parts_of_the_score(agon: Cli, arena: Path, name: str) -> None:
    """Table and JSON agree."""
    value = agon("explain", "arena", arena, name, "--format", "json").json()
    assert value["edition"] == "sentience-1"
    assert sum(part["points"] for part in value["parts"]) == pytest.approx(value["score"])
    ended = agon("explain", "arena", arena, name)
    assert ended.code == 0
    assert ended.out.startswith(f"{name} · bots · rank {value['rank']}")
    for part in value["parts"]:
        assert part["name"] in ended.out


@pytest.mark.exhaustive
def test_explain_prints_the_reason_of_an_unscored_id(agon: Cli, arena: Path) -> None:
    """A missing score is a result, not an error."""
    (arena / "bots.csv").write_text((arena / "bots.csv").read_text() + "dan,o1,Dan\n")
    ended = agon("explain", "arena", arena, "dan")
    assert ended.code == 0
    assert "unscored" in ended.out
    assert "no score: " in ended.out
    value = agon("explain", "arena", arena, "dan", "--format", "json").json()
    assert (value["score"], value["rank"]) == (None, None)
    assert value["reason"]


@pytest.mark.exhaustive
def test_explain_draws_the_parts_as_svg(agon: Cli, arena: Path, tmp_path: Path) -> None:
    """It writes to stdout or atomically to a file."""
    drawn = agon("explain", "arena", arena, "ann", "--format", "svg").out
    assert ET.fromstring(drawn).tag.endswith("}svg")  # noqa: S314 - our own text
    score = agon("explain", "arena", arena, "ann", "--format", "json").json()["score"]
    assert f">{score:,.10g}</text>" in drawn
    file = tmp_path / "why.svg"
    assert agon("explain", "arena", arena, "ann", "--format", "svg", "--output", file).code == 0
    assert file.read_text() == drawn


@pytest.mark.exhaustive
def test_check_names_the_overrides_in_force(agon: Cli, arena: Path) -> None:
    """Findings depend on the rules, so the report says which ones they were."""
    changed = ("check", "arena", arena, "--set", "surprise=0.01")
    assert agon(*changed).out.startswith("arena/sentience-1 with surprise=0.01 · ")
    assert agon(*changed, "--format", "json").json()["overrides"] == {"surprise": 0.01}
    assert agon("check", "arena", arena).out.startswith("arena/sentience-1 · ")
    assert agon("check", "arena", arena, "--format", "json").json()["overrides"] == {}


def test_a_waterfall_ends_at_the_sum() -> None:
    """Each bar begins at the end of the previous one."""
    assert waterfall([]) == []
    assert waterfall([0.0, 0.0]) == [" " * 12] * 2
    bars = waterfall([5.0, 5.0, -10.0], width=10)
    assert bars == ["█████     ", "     █████", "▒▒▒▒▒▒▒▒▒▒"]


@pytest.mark.exhaustive
def test_compare_with_equal_rules_changes_no_rank(agon: Cli, arena: Path) -> None:
    """An edition is compared with itself."""
    twice = ("--edition", "sentience-1", "--edition", "arena/sentience-1")
    value = agon("compare", "arena", arena, *twice, "--format", "json").json()
    assert (value["moves"], value["entered"], value["dropped"]) == ([], [], [])
    assert value["summary"]["share_moved"] == 0
    assert "no moves" in agon("compare", "arena", arena).out


@pytest.mark.exhaustive
def test_compare_lists_the_largest_rank_changes_first(agon: Cli, arena: Path) -> None:
    """The output contains the differing rules and the previous ranks."""
    value = agon(
        "compare", "arena", arena, "--set", "k_new=64", "--format", "json", "--top", 2
    ).json()
    assert value["rules"] == {"k_new": {"left": 32.0, "right": 64.0}}
    assert len(value["moves"]) == 2
    assert {"rank_before", "rank_after", "score_before", "score_after"} <= set(value["moves"][0])
    text = agon("compare", "arena", arena, "--set", "k_new=64").out
    assert "k_new: 32 → 64" in text
    assert "rank correlation" in text
    both = agon("compare", "arena", arena, "--set", "k_new=64", "--set-left", "k_new=64")
    assert "no moves" in both.out


def test_check_of_valid_records_exits_with_zero(agon: Cli, arena: Path) -> None:
    """It prints the counts and that all records are valid."""
    ended = agon("check", "arena", arena)
    assert ended.code == 0
    assert "all rows are valid" in ended.out
    assert "4 matches" in ended.out


@pytest.mark.exhaustive
def test_check_prints_all_invalid_records_on_stdout(agon: Cli, arena: Path) -> None:
    """The issues are the requested data; the exit code is 2."""
    (arena / "matches.csv").write_text(MATCHES.replace("rated", "friendly", 3))
    ended = agon("check", "arena", arena)
    assert (ended.code, ended.err) == (2, "")
    assert ended.out.count("'friendly' is not one of the known values") == 3
    value = agon("check", "arena", arena, "--format", "json").json()
    assert (value["valid"], value["problems_total"]) == (False, 3)
    assert {"table", "row", "column", "value", "reason", "remedy"} <= set(value["problems"][0])


def test_check_sorts_findings_by_severity_and_fails_on_errors(agon: Cli, tmp_path: Path) -> None:
    """Copied programs are an error that stops a pipeline."""
    out = tmp_path / "dojo"
    agon("simulate", "dojo", "--out", out, "--size", 300, "--attack", "copied-source",
         "--attack", "tag-farming")  # fmt: skip
    ended = agon("check", "dojo", out)
    assert ended.code == 1
    lines = [line for line in ended.out.splitlines() if line.startswith(("error ·", "warning ·"))]
    assert lines[0].startswith("error · same-source")
    assert lines == sorted(lines, key=lambda line: line.startswith("warning"))
    value = agon("check", "dojo", out, "--format", "json").json()
    assert value["findings_by_severity"]["error"] >= 1
    assert {"code", "severity", "subjects", "statistic", "value", "expected", "records"} <= set(
        value["findings"][0]
    )


def test_simulate_lists_attacks_and_writes_nothing_on_a_dry_run(agon: Cli, tmp_path: Path) -> None:
    """A dry run shows what would be written."""
    assert "collusion" in agon("simulate", "arena", "--list-attacks").out
    assert agon("simulate", "arena").code == 2
    dry = agon("simulate", "arena", "--out", tmp_path / "a", "--size", 20, "--dry-run")
    wet = agon("simulate", "arena", "--out", tmp_path / "b", "--size", 20, "--format", "csv")
    assert dry.out == wet.out
    assert "would write" in dry.err
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
    assert (tmp_path / "b" / "matches.csv").is_file()


@pytest.mark.exhaustive
def test_import_writes_a_folder_that_can_be_scored(agon: Cli, tmp_path: Path) -> None:
    """Imported foreign files can be scored immediately."""
    file = tmp_path / "battles.csv"
    file.write_text("model_a,model_b,winner\nx,y,model_a\ny,z,tie\n")
    dry = agon("import", "arena-battles", file, "--out", tmp_path / "out", "--dry-run")
    assert (dry.code, dry.out) == (0, "bots\t3\nmatches\t2\n")
    assert not (tmp_path / "out").exists()
    ended = agon("import", "arena-battles", file, "--out", tmp_path / "out")
    assert ended.out == dry.out
    assert "note: " in ended.err
    assert agon("score", "arena", tmp_path / "out", "--format", "csv").out.startswith("rank,id")
    assert agon("import", "arena-battles", file, "--out", tmp_path / "out").code == 4
    assert agon("import", "arena-battles", file, "--out", tmp_path / "n", "--as", "votes").code == 4


def test_a_failed_import_writes_nothing(agon: Cli, tmp_path: Path) -> None:
    """There must be no partial folder."""
    file = tmp_path / "battles.csv"
    file.write_text("model_a,model_b,winner\nx,y,nobody\n")
    ended = agon("import", "arena-battles", file, "--out", tmp_path / "out")
    assert (ended.code, ended.out) == (2, "")
    assert "battles.csv, line 2 (row 1), column winner: 'nobody'" in ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["battles.csv"]


def test_rules_are_listed_shown_compared_and_linted(agon: Cli) -> None:
    """The output is available as text and as JSON."""
    editions = agon("rules", "list", "--format", "json").json()["editions"]
    assert {"edition", "title", "released", "rules_sha256", "versions"} <= set(editions[0])
    dojo = agon("rules", "list", "dojo", "--format", "json").json()["editions"]
    assert [edition["edition"] for edition in dojo] == ["dojo/0.1", "dojo/0.2", "dojo/hardened-1"]
    rules = agon("rules", "show", "dojo/0.2", "--format", "json").json()
    assert {"name", "value", "bounds", "meaning", "reason", "source"} <= set(rules["rules"][0])
    assert "max_literal_digits" in agon("rules", "show", "0.2").out
    differing = agon("rules", "diff", "0.1", "0.2", "--format", "json").json()["rules"]
    basic = ["sympy", "math", "fractions", "itertools"]
    more = ["functools", "collections", "heapq", "bisect", "operator", "typing", "dataclasses"]
    assert [(edition["name"], edition["left"], edition["right"]) for edition in differing] == [
        ("max_literal_digits", None, 64),
        ("max_information_bytes", None, 600),
        ("max_string_bytes", None, 2000),
        ("feedback", None, "gate"),
        ("max_submissions", None, 100),
        ("allowed_modules", basic, basic + more),
        ("tag_spelling", "exact", "folded"),
    ]
    assert "the same rules" in agon("rules", "diff", "0.1", "0.1").out
    linted = agon("rules", "lint", "dojo/0.1", "0.2")
    assert linted.code == 0
    assert linted.out.count(": OK") == 2
    issues = agon("rules", "lint", "dojo/0.1", "--format", "json").json()["editions"][0]["issues"]
    assert issues == []


def test_an_issue_of_an_edition_fails_the_lint(agon: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exit code is 1 and the issue is printed."""
    from agon.editions.lint import LintIssue

    monkeypatch.setattr(
        "agon.editions.lint.lint", lambda name: [LintIssue(name, "h", "is 4, not 5")]
    )
    ended = agon("rules", "lint", "dojo/0.1")
    assert ended.code == 1
    assert "dojo/0.1, 'h': is 4, not 5" in ended.out


SOURCE = b"\xef\xbb\xbfdef solver():\r\n    return [1, 2, 3]\r\n\r\n"
CANONICAL = b"def solver():\n    return [1, 2, 3]\n"


def test_canonicalize_writes_only_the_canonical_bytes(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The sha256sum of the output is the source hash."""
    from agon.cli.run import run

    (tmp_path / "s.py").write_bytes(SOURCE)
    assert run(["dojo", "canonicalize", str(tmp_path / "s.py")]) == 0
    assert capfdbinary.readouterr().out == CANONICAL


def test_canonicalize_prints_hash_and_length(agon: Cli, tmp_path: Path) -> None:
    """Both identify a submission."""
    (tmp_path / "s.py").write_bytes(SOURCE)
    ended = agon("dojo", "canonicalize", tmp_path / "s.py", "--hash")
    digest = hashlib.sha256(CANONICAL).hexdigest()
    assert ended.out == f"source_hash {digest}\nL_chars {len(CANONICAL)}\n"
    (tmp_path / "s.py").write_bytes(b"x = 1\n\xff\n")
    assert agon("dojo", "canonicalize", tmp_path / "s.py").code == 2


@pytest.mark.parametrize(
    ("source", "code", "message"),
    [
        ("def solver():\n    return [1]\n", 0, "nothing to reject"),
        ("import os\ndef solver():\n    return [1]\n", 1, ":1:1: import of os"),
        ("x = 1\n", 1, "solver()"),
        ("def solver(:\n", 1, "syntax_error"),
        (f"def solver():\n    return {list(range(401))}\n", 1, "rejected_policy"),
        ("\x00", 1, "syntax_error"),
    ],
)
def test_dojo_check_reports_forbidden_code(
    agon: Cli, tmp_path: Path, source: str, code: int, message: str
) -> None:
    """It prints line, column, remedy and the expected verdict without running the program."""
    (tmp_path / "s.py").write_text(source)
    ended = agon("dojo", "check", tmp_path / "s.py")
    assert ended.code == code
    assert message in ended.out
    value = agon("dojo", "check", tmp_path / "s.py", "--format", "json").json()
    assert value["accepted"] is (code == 0)


def test_dojo_check_depends_on_edition_and_kind(agon: Cli, tmp_path: Path) -> None:
    """Edition 0.2 forbids huge literals; a setter needs its own entry point."""
    (tmp_path / "s.py").write_text(f"def solver():\n    return [{'9' * 65}]\n")
    assert agon("dojo", "check", tmp_path / "s.py").code == 0
    assert agon("dojo", "check", tmp_path / "s.py", "--edition", "0.2").code == 1
    assert agon("dojo", "check", tmp_path / "s.py", "--kind", "setter").code == 1
    assert agon("dojo", "check", tmp_path / "s.py", "--set", "max_literal_digits=9").code == 1


@pytest.fixture(scope="module")
def challenge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a simulated challenge."""
    from agon.app.analysis.simulate import simulate, write_simulation

    folder = tmp_path_factory.mktemp("challenge") / "records"
    write_simulation(simulate("challenge", size=800, seed=2), folder)
    return folder


@pytest.mark.exhaustive
def test_weights_are_the_board_of_an_epoch(agon: Cli, challenge: Path) -> None:
    """The options --epoch and --set epoch are equivalent and exclude each other."""
    early = agon("challenge", "weights", challenge, "--epoch", 2, "--format", "json").json()
    same = agon("score", "challenge", challenge, "--set", "epoch=2", "--format", "json").json()
    assert early == same
    last = agon("challenge", "weights", challenge, "--format", "json").json()
    assert last["board_sha256"] != early["board_sha256"]
    twice = agon("challenge", "weights", challenge, "--epoch", 2, "--set", "epoch=3")
    assert twice.code == 2


@pytest.mark.exhaustive
def test_the_bittensor_payload_has_the_format_of_set_weights(agon: Cli, challenge: Path) -> None:
    """UIDs and weights have equal length, maximum 65535, no zeros, sorted by UID."""
    payload = agon("challenge", "weights", challenge, "--bittensor").json()
    assert set(payload) == {"epoch", "uids", "weights"}
    assert len(payload["uids"]) == len(payload["weights"]) > 0
    assert max(payload["weights"]) == 65_535
    assert min(payload["weights"]) > 0
    assert payload["uids"] == sorted(payload["uids"])
    assert agon("challenge", "weights", challenge, "--bittensor", "--top", 3).code == 2


@pytest.mark.exhaustive
def test_rate_prints_either_method_with_intervals(agon: Cli, tmp_path: Path) -> None:
    """At eighty columns the table shows the interval next to the rating."""
    agon("simulate", "arena", "--out", tmp_path / "a", "--size", 300)
    rated = agon("arena", "rate", tmp_path / "a", "--format", "json").json()
    assert rated["board"] == "bots"
    for method in ("elo", "bradley-terry"):
        arguments = ("arena", "rate", tmp_path / "a", "--method", method, "--ci", "--top", 2)
        ended = agon(*arguments, "--format", "ndjson")
        assert all({"low", "high"} <= set(json.loads(line)) for line in ended.out.splitlines())
        assert "low" in agon(*arguments).out


@pytest.mark.exhaustive
def test_json_of_rated_bots_contains_the_shown_values(agon: Cli, arena: Path) -> None:
    """The JSON also contains requested intervals."""
    value = agon("arena", "rate", arena, "--ci", "--format", "json").json()
    assert {"low", "high"} <= set(value["rows"][0])


def test_the_demo_prints_four_boards_and_stores_them_in_ledgers(agon: Cli, demo: Demo) -> None:
    """A board from a ledger has the same hash as the board from the files."""
    for board in ("user-score ·", "weights ·", "season ·", "bots ·"):
        assert board in demo.out
    assert "CC BY 4.0" in demo.out
    assert demo.out.count("findings: ") == 4
    league = "12 bots, 10 judges: 36 matches in 6" if ALL else "6 bots, 5 judges: 3 matches in 1"
    assert f"{league} round" in demo.out
    database = f"sqlite:///{demo.folder / 'agon.db'}"
    for discipline in ("community", "challenge", "dojo", "arena"):
        example = definition(discipline).demo
        assert example is not None
        rules = [f"--set={name}={value}" for name, value in example.overrides.items()]
        source = demo.folder / f"{discipline}.duckdb"
        scored = agon("score", discipline, source, *rules, "--format", "json")
        replayed = agon("replay", discipline, "--database", database, "--format", "json")
        assert replayed.json()["board_sha256"] == scored.json()["board_sha256"]
    assert {step["at"] < demo.history[-1]["at"] for step in demo.history[:-1]} == {True}
    assert agon("demo", "--dir", demo.folder.parent, "--no-serve").code == 4


def test_the_demo_serves_its_contests(demo: Demo) -> None:
    """Users can try the API with sample data and a token."""
    assert "operator's token" in demo.messages[1]
    assert len(demo.page["rows"]) == 2
    assert demo.code == 0


@pytest.mark.exhaustive
def test_the_demo_ends_with_its_boards_on_request(
    agon: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a server, the contests are in the database as well."""
    monkeypatch.setattr("agon.app.demo.names", lambda: ("arena",))
    monkeypatch.setattr("agon.cli.demo._play_league", lambda _: None)  # seconds, tested above
    ended = agon("demo", "--dir", tmp_path / "demo", "--no-serve")
    assert ended.code == 0
    assert "bots ·" in ended.out
    database = f"sqlite:///{tmp_path}/demo/agon.db"
    assert "http://127.0.0.1:8000/ after:" in ended.out
    assert f"agon serve --database {database} --port 8000" in ended.out.replace("\n", "")
    assert agon("contest", "board", "arena", "--database", database).code == 0


def test_the_demo_without_the_service_prints_its_boards_alone(
    agon: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It printed everything, and then ended with an error about a missing package."""
    monkeypatch.setattr("agon.app.demo.names", lambda: ("arena",))
    monkeypatch.setattr("agon.extras.find_spec", lambda _: None)
    refused = agon("demo", "--dir", tmp_path / "demo")
    assert (refused.code, refused.out) == (5, "")
    assert "pip install 'agon-engine[serve]'" in refused.err
    ended = agon("demo", "--dir", tmp_path / "demo", "--no-serve")
    assert (ended.code, "bots ·" in ended.out, "--database" in ended.out) == (0, True, False)
    assert "left out: this needs the package alembic: pip install 'agon-engine[serve]'" in ended.err
    assert not (tmp_path / "demo" / "agon.db").exists()


def test_every_command_that_a_file_defines_is_reached_from_the_root() -> None:
    """A command was written, documented and tested, and no group registered it."""

    def commands(group: click.Group) -> Iterator[click.Command]:
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            yield command
            if isinstance(command, click.Group):
                yield from commands(command)

    reached = [id(command) for command in commands(root)]
    defined = {
        f"{module.name}.{name}": value
        for module in pkgutil.walk_packages(agon.cli.__path__, "agon.cli.")
        for name, value in vars(import_module(module.name)).items()
        if isinstance(value, click.Command) and value is not root
    }
    assert len(defined) > 50
    assert [name for name, value in defined.items() if id(value) not in reached] == []


@pytest.mark.exhaustive
def test_compare_shows_what_moved_between_two_times(agon: Cli, arena: Path) -> None:
    """The second --as-of is the right side's; a third has no side."""
    times = ("--as-of", "2020-01-01", "--as-of", "2030-01-01")
    value = agon("compare", "arena", arena, *times, "--format", "json").json()
    sides = [value[side]["as_of"] for side in ("left", "right")]
    assert sides == ["2020-01-01T00:00:00+00:00", "2030-01-01T00:00:00+00:00"]
    assert value["left"]["board_sha256"] != value["right"]["board_sha256"]
    assert "records as of 2020-01-01" in agon("compare", "arena", arena, *times).out
    thrice = agon("compare", "arena", arena, *times, "--as-of", "2031-01-01")
    assert (thrice.code, "at most twice" in thrice.err) == (2, True)
