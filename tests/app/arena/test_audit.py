"""The audit of a source: what every door to it says."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import agon
from agon.app.arena.robustness import robustness
from agon.cli.root import cli
from agon.errors import NotScorable

NAMES = [
    "separation", "robustness", "position", "ties", "cycles", "connectivity", "coverage", "voters",
    "influence", "duplicates", "names",
]  # fmt: skip


def battles(path: Path) -> Path:
    """Write battles of three bots, two of which have names that look alike."""
    rows = ["model_a,model_b,winner"]
    for a, b in (("GPT-4", "gpt 4"), ("gpt 4", "c"), ("c", "GPT-4")):
        rows += [f"{a},{b},model_a", f"{b},{a},model_a", f"{a},{b},tie"] * 5
    path.write_text("\n".join(rows))
    return path


def test_a_board_of_ties_alone_has_none_without_them() -> None:
    """The reason was that no bot ever played, with a remedy that is none."""
    rows = [{"model_a": a, "model_b": b, "winner": "tie"} for a, b in ("xy", "yz", "zx")]
    probe = agon.audit(rows)["ties"]
    assert probe.verdict == "cannot tell"
    assert probe.sentence == "all matches are ties, so that there is no board without them"


def test_an_audit_answers_every_probe(tmp_path: Path) -> None:
    """What the records do not say is *cannot tell*, never *fine*."""
    made = agon.audit(str(battles(tmp_path / "battles.csv")))
    assert [probe.name for probe in made.probes] == NAMES
    assert made["names"].verdict == "look"
    assert set(made["names"].records) == {"GPT-4", "gpt 4"}
    assert {made[name].verdict for name in ("voters", "influence", "duplicates")} == {"cannot tell"}
    assert "names" in repr(made)
    assert made.to_dict()["probes"] == made.rows()


@pytest.mark.exhaustive
def test_the_command_prints_what_the_function_returns(tmp_path: Path) -> None:
    """As a table for people, and as JSON with the records for machines."""
    source = str(battles(tmp_path / "battles.csv"))
    run = CliRunner().invoke(cli, ["arena", "audit", source, "--format", "json"])
    assert run.exit_code == 0, run.output
    rows = json.loads(run.stdout)["probes"]
    assert rows == agon.audit(source).rows()
    table = CliRunner().invoke(cli, ["arena", "audit", source])
    assert "look-alike" in table.stdout or "names" in table.stdout


@pytest.mark.exhaustive
def test_a_rule_that_the_records_do_not_fill_gives_way_as_on_a_contest_s_board(
    tmp_path: Path,
) -> None:
    """The records of such a contest can be examined under its rules, and it is said what holds."""
    source = str(battles(tmp_path / "battles.csv"))
    stated = {"cluster": "prompt", "control": "length"}
    made = agon.audit(source, overrides=stated)
    assert made.probes == agon.audit(source).probes
    said = " ".join(made.notes)
    assert "until then this board has cluster=none" in said
    assert "until then this board has control empty" in said
    ranks = robustness(source, overrides=stated)
    assert ranks.ranks == robustness(source).ranks
    assert "until then this board has cluster=none" in " ".join(ranks.notes)
    with pytest.raises(NotScorable, match="control=length"):
        agon.rate(source, method="bradley-terry", overrides=stated)
