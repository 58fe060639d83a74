"""Every door to a Bradley–Terry board states the same ratings, ranks, tiers and comparisons."""

import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest

import agon
from agon.app.arena.rating import RatingTable
from agon.web import addresses
from cli.command import Cli
from fakes.contests import contest_of
from fakes.instance import Instance, instance_at
from web.markup import Markup

STRENGTHS = {"ann": 0.9, "bob": 0.5, "cy": 0.0, "dan": -0.4, "eve": -0.9}
NAMES = (
    "rank", "id", "score", "low", "high", "rank_low", "rank_high", "tier", "gap", "gap_low",
    "gap_high", "apart", "votes_needed",
)  # fmt: skip
RULES: dict[str, dict[str, Any]] = {
    "default": {},
    "together": {"simultaneous": "pairs", "ties": "davidson", "cluster": "both"},
    "modeled": {"control": "length", "position": "fitted"},
}


def drawn() -> list[dict[str, Any]]:
    """Return matches with ties, prompts and judges, and a bot that never lost a point."""
    dice = Random(20)
    rows: list[dict[str, Any]] = []

    def play(a: str, b: str, winner: str, prompt: int) -> None:
        rows.append({
            "id": f"m{len(rows):03}", "played_at": f"2026-01-01T{len(rows) // 60:02}:"
            f"{len(rows) % 60:02}:00Z", "bot_a": a, "bot_b": b, "winner": winner,
            "prompt_id": f"p{prompt}", "judge": f"j{dice.randrange(24)}",
            "response_a": "word " * dice.randint(5, 40),
            "response_b": "word " * dice.randint(5, 40),
        })  # fmt: skip

    for prompt in range(60):
        for _ in range(3):
            a, b = dice.sample(list(STRENGTHS), 2)
            chance = 1 / (1 + math.exp(STRENGTHS[b] - STRENGTHS[a] - 0.2))
            [winner] = dice.choices(["a", "b", "tie"], [0.8 * chance, 0.8 - 0.8 * chance, 0.2])
            play(a, b, winner, prompt)
    for other in ("ann", "bob"):
        play("zed", other, "a", 1)
    return rows


def battles() -> list[dict[str, Any]]:
    """Return the same matches under the names that files of battles have."""
    sides = {"a": "model_a", "b": "model_b", "tie": "tie"}
    return [
        {"model_a": row["bot_a"], "model_b": row["bot_b"], "winner": sides[row["winner"]],
         "prompt_id": row["prompt_id"], "judge": row["judge"],
         "response_a": row["response_a"], "response_b": row["response_b"]}
        for row in drawn()
    ]  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """An instance with a contest of these matches for each set of rules."""
    instance = instance_at(tmp_path_factory.mktemp("ratings"))
    rows = [("bots", {"id": name, "name": name}, None) for name in (*STRENGTHS, "zed")]
    rows += [("matches", {**row, "kind": "rated"}, None) for row in drawn()]
    for name, overrides in RULES.items():
        contest_of(
            instance.service, name, title=name, discipline="arena", rows=rows, overrides=overrides
        )
    yield instance
    instance.close()


@dataclass(frozen=True)
class Doors:
    """A set of rules, and the ways by which its board is asked for."""

    rules: str
    site: Instance
    source: Path
    cli: Cli

    def run(self, *command: str) -> str:
        """Return what a command prints about the source under the rules."""
        chosen = [f"--set={name}={value}" for name, value in RULES[self.rules].items()]
        made = self.cli(*command, *chosen)
        assert made.code == 0, made.err
        return made.out

    def rate(self, kind: str) -> str:
        """Return the ratings in a format."""
        return self.run(
            "arena", "rate", str(self.source), "--method=bradley-terry", "--ci", f"--format={kind}"
        )


@pytest.fixture(params=RULES)
def doors(
    request: pytest.FixtureRequest,
    site: Instance,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> Doors:
    """The doors to a board under one of the sets of rules."""
    source = tmp_path / "battles.csv"
    pd.DataFrame(battles()).to_csv(source, index=False)
    return Doors(request.param, site, source, Cli(capsys))


def same(rows: list[dict[str, Any]], wanted: list[dict[str, Any]]) -> None:
    """Compare what two doors state, number by number."""
    assert [row["id"] for row in rows] == [row["id"] for row in wanted]
    for row, right in zip(rows, wanted, strict=True):
        assert {name: row[name] for name in NAMES} == {name: right[name] for name in NAMES}


def parsed(name: str, text: str) -> Any:
    """Return a value of a CSV file."""
    if name == "id":
        return text
    words = {"": None, "true": True, "false": False}
    return words[text] if text in words else float(text)


@pytest.mark.exhaustive
def test_all_doors_state_one_board(doors: Doors) -> None:
    """Table, JSON, CSV, chart, page, contest's board, explanation, audit and frame agree."""
    frame = agon.rate(
        pd.DataFrame(battles()), method="bradley-terry", interval=True,
        overrides=RULES[doors.rules],
    )  # fmt: skip
    wanted = frame.rows()
    intervals = frame.board.context["intervals"]
    comparison = frame.board.context["comparison"]
    assert {row["id"] for row in wanted} == set(STRENGTHS)

    printed = json.loads(doors.rate("json"))
    same(printed["rows"], wanted)
    assert (printed["intervals"], printed["comparison"]) == (intervals, comparison)
    assert [row["id"] for row in printed["unscored"]] == ["zed"]
    same(
        [
            {name: parsed(name, row[name]) for name in NAMES}
            for row in csv.DictReader(io.StringIO(doors.rate("csv")))
        ],
        wanted,
    )
    table = " ".join(doors.rate("table").split())
    for row in wanted:
        shown = [f"{row[name]:,.2f}" for name in ("score", "low", "high")]
        shown += [str(row[name]) for name in ("rank_low", "rank_high", "tier")]
        assert " ".join([row["id"], *shown]) in table
    assert frame.board.caption in table

    drawing = frame.plot().svg
    html = frame._repr_html_()
    for row in wanted:
        score, low, high = (f"{row[name]:,.5g}" for name in ("score", "low", "high"))
        assert f"{row['id']}: {score} ({low} to {high})" in drawing
        assert all(f">{row[name]}<" in html for name in NAMES[:8])
    assert frame.board.caption in html

    _contest_agrees(doors, wanted, intervals)
    _explanations_agree(doors, wanted)
    _notes_agree(doors, frame)


def _notes_agree(doors: Doors, frame: RatingTable) -> None:
    """Compare what limits the ratings: clusters, models, matches that do not count."""
    notes = list(frame.board.notes)
    assert notes[-1].startswith("no rating follows from 2 of ")
    rated, audited = (
        json.loads(text)["notes"]
        for text in (doors.rate("json"), json.dumps(agon.audit(
            pd.DataFrame(battles()), overrides=RULES[doors.rules]).to_dict()))
    )  # fmt: skip
    score = ("score", "arena", str(doors.source), "--board=bradley-terry", "--format=json")
    scored = json.loads(doors.run(*score))["notes"]
    board = doors.site.get(f"/contests/{doors.rules}/boards/bradley-terry").json()["notes"]
    sure = doors.site.get(f"/contests/{doors.rules}/robustness").json()["notes"]
    for said in (rated, audited, scored, board, sure):
        assert said[-len(notes) :] == notes


def _contest_agrees(
    doors: Doors,
    wanted: list[dict[str, Any]],
    intervals: dict[str, Any],
) -> None:
    """Compare a contest's board, its page and the page of its audit."""
    board = doors.site.get(f"/contests/{doors.rules}/boards/bradley-terry").json()
    same(board["rows"], wanted)
    assert board["intervals"] == intervals
    page = Markup(doors.site.client.get(addresses.board(doors.rules, "bradley-terry")).text)
    for row in wanted:
        assert f"{row['score']:,.5g}" in page.text
    apart = sum(row["apart"] is True for row in wanted)
    made = agon.audit(pd.DataFrame(battles()), overrides=RULES[doors.rules])["separation"]
    known = doors.site.get(f"/contests/{doors.rules}/robustness").json()["probes"][0]
    assert known["sentence"] == made.sentence
    assert made.sentence.startswith(f"{apart} of {len(wanted) - 1} neighbors are apart together")
    assert f"in {max(row['tier'] for row in wanted)} tier" in made.sentence
    sure = Markup(doors.site.client.get(addresses.robustness(doors.rules)).text)
    assert made.sentence in sure.text
    assert made.sentence in doors.run("arena", "audit", str(doors.source))


def _explanations_agree(doors: Doors, wanted: list[dict[str, Any]]) -> None:
    """Compare what explanations repeat of the first row and the last, which has no next bot."""
    explained = (
        "low", "high", "rank_low", "rank_high", "tier", "apart", "votes_needed"
    )  # fmt: skip
    for row in (wanted[0], wanted[-1]):
        path = f"/contests/{doors.rules}/boards/bradley-terry/explanations/{row['id']}"
        text = doors.run(
            "explain", "arena", str(doors.source), row["id"], "--board=bradley-terry",
            "--format=json",
        )  # fmt: skip
        for made in (doors.site.get(path).json(), json.loads(text)):
            assert (made["rank"], made["score"]) == (row["rank"], row["score"])
            stated = {name: made["context"].get(name) for name in explained}
            assert stated == {name: row[name] for name in explained}
