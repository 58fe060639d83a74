"""``agon attack DISCIPLINE``: the table, the JSON of the contract, replays, bad input."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from cli.command import Cli

QUICK = ("attack", "challenge", "--size", "12", "--attack", "last-minute")


def test_a_run_replays_from_its_file(agon: Cli, tmp_path: Path) -> None:
    """The JSON has the keys of the contract; a file repeats the run, and a changed one fails."""
    out = tmp_path / "out"
    shown = agon(*QUICK, "--format", "json", "--out", str(out))
    assert shown.code == 0
    report = json.loads(shown.out)
    assert {"discipline", "size", "seed", "editions", "ablation", "search"} <= set(report)
    [under] = report["editions"]
    assert under["edition"] == "challenge/term-1"
    [attack] = under["attacks"]
    assert set(attack) == {
        "name", "goal", "plan", "reached", "cost", "gain", "detected", "harm", "replay", "undo"
    }  # fmt: skip
    assert set(attack["cost"]) == {"actions", "accounts", "stake", "days", "money"}
    assert set(attack["gain"]) == {"ranks", "points", "share"}
    assert {"honest_moved", "worst_fall"} <= set(attack["harm"])
    file = out / attack["replay"]
    again = agon("attack", "challenge", "--replay", str(file), "--format", "json")
    assert again.code == 0
    assert json.loads(again.out)["editions"][0]["attacks"][0]["gain"] == attack["gain"]

    value = json.loads(file.read_text())
    value["result"]["gain"]["ranks"] += 1
    file.write_text(json.dumps(value))
    changed = agon("attack", "challenge", "--replay", str(file))
    assert changed.code == 1
    assert "expected" in changed.err
    file.write_text(json.dumps({**value, "rules_sha256": "0" * 64}))
    assert agon("attack", "challenge", "--replay", str(file)).code == 4
    file.write_text(json.dumps({"discipline": "challenge", "plans": {}}))
    broken = agon("attack", "challenge", "--replay", str(file))
    assert broken.code == 2
    assert "there is no attack" in broken.err
    assert "unknown key 'plans'" in broken.err


@pytest.mark.exhaustive
def test_prices_are_replaced_by_a_file(agon: Cli, tmp_path: Path) -> None:
    """An organizer of a network knows the fee of a registration; all errors are shown at once."""
    file = tmp_path / "prices.toml"
    file.write_text('[day]\namount = 1000\nper = "day"\nsource = "ours"\n')
    plain, dear = (
        json.loads(agon(*QUICK, "--format", "json", *further).out)["editions"][0]["attacks"][0]
        for further in ((), ("--prices", str(file)))
    )
    assert dear["cost"]["money"] - plain["cost"]["money"] == pytest.approx(
        998 * plain["cost"]["days"]
    )
    file.write_text('[dey]\namount = 1\n[day]\namount = -1\nper = "day"\nsource = ""\n')
    wrong = agon(*QUICK, "--prices", str(file))
    assert wrong.code == 2
    for message in ("did you mean day", "0 or more, got -1", "day.source"):
        assert message in wrong.err
    assert str(file) in wrong.err


@pytest.mark.exhaustive
def test_a_real_board_is_attacked_after_its_last_epoch(agon: Cli, tmp_path: Path) -> None:
    """What would first place cost here?"""
    agon("simulate", "challenge", "--out", str(tmp_path / "data"), "--size", "200")
    shown = agon("attack", "challenge", "--attack", "sybil-miners", "--goal", "rank+1",
                 "--records", str(tmp_path / "data"), "--format", "json")  # fmt: skip
    report = json.loads(shown.out)
    assert (shown.code, report["size"]) == (0, None)
    assert len(report["records_sha256"]) == 64
    assert report["editions"][0]["attacks"][0]["cost"]["accounts"] > 0


@pytest.mark.exhaustive
def test_a_report_is_a_chart_or_a_page(
    agon: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On stdout, and next to the replays."""
    measured = SimpleNamespace(detectors=())
    monkeypatch.setattr("agon.app.analysis.detectors.detectors", lambda *_, **__: measured)
    for form, begin in (("svg", "<svg"), ("html", "<!doctype html>")):
        out = tmp_path / form
        shown = agon(*QUICK, "--format", form, "--out", str(out))
        assert shown.code == 0
        assert shown.out.startswith(begin)
        assert (out / f"report.{form}").read_text() == shown.out
        assert (out / "term-1-last-minute.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--attack", "dust-validator"), "did you mean dust-validators"),
        (("--edition", "term-9"), "term-1"),
        (("--size", "0"), "0"),
        (("--records", "nowhere"), "nowhere"),
    ],
)
def test_wrong_arguments_are_named(agon: Cli, arguments: tuple[str, ...], message: str) -> None:
    """With what would be right."""
    shown = agon("attack", "challenge", *arguments)
    assert shown.code != 0
    assert message in shown.err
    assert "Traceback" not in shown.err


def test_the_catalog_is_listed(agon: Cli) -> None:
    """Each with what it does and what the attacker has; a wide terminal adds what it sees."""
    shown = agon("attack", "challenge", "--list-attacks")
    assert shown.code == 0
    assert "dust-validators" in shown.out
    assert "attacker has" in shown.out.splitlines()[0]
