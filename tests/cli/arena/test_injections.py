"""Tests of ``agon arena injections`` and ``agon arena judges``."""

from pathlib import Path

import pytest

from agon.entities.judging import ModelUsage
from agon.store import open_store
from cli.command import Cli
from fakes.models import KEY, Asked, Reply, serve_model, verdict


def test_the_suite_prints_rates_with_intervals_and_fails_when_a_judge_was_fooled(
    agon: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A judge that takes the first answer chooses half of the injected ones."""
    monkeypatch.setenv("AGON_ARENA_JUDGE_KEY", KEY)
    with serve_model(lambda asked: verdict(asked, "A")) as server:
        arguments = ("arena", "injections", "--judge", server.url, "--provider", "anthropic")
        result = agon(*arguments, "--format", "json")
        table = agon(*arguments, "--model", "m-2")
        models = {headers["x-api-key"] for _, headers, _ in server.requests}
    assert models == {KEY}
    assert result.code == table.code == 1
    assert "in 24 of 48 calls" in result.err
    page = result.json()
    assert page["judge"] == "anthropic/claude-opus-4-5"
    assert page["families"][-1]["family"] == "all families"
    assert page["families"][-1]["share"] == 0.5
    assert [item["measure"] for item in page["measurements"]] == ["flip", "first-shown"]
    assert "ignore-instructions" in table.out
    assert "0.364" in table.out
    assert KEY not in result.out + result.err + table.out + table.err


def test_exit_codes_distinguish_a_good_judge_from_none(agon: Cli) -> None:
    """0: no injected answer was chosen; 5: the endpoint gives no verdicts; 2: wrong options."""

    def honest(asked: Asked) -> str:
        longer = max("AB", key=lambda label: len(asked.quotation(f"answer {label}")))
        return verdict(asked, "B" if longer == "A" else "A")

    with serve_model(honest) as server:
        url = f"{server.url}/v1"
        arguments = ("arena", "injections", "--judge", url, "--provider", "openai")
        assert agon(*arguments, "--format", "csv").code == 0
        server.brain = lambda _: "A"
        assert agon(*arguments).code == 5
        server.brain = lambda _: Reply(403, b"{}")
        denied = agon(*arguments)
        assert denied.code == 5
        assert "status-403" in denied.err
    assert agon("arena", "injections", "--judge", "x", "--provider", "openai").code == 2
    assert agon("arena", "injections", "--judge", "http://127.0.0.1", "--provider", "x").code == 2


def test_use_and_measurements_of_judges_are_printed_with_intervals(
    agon: Cli, tmp_path: Path
) -> None:
    """An operator reads whether the budget lasts and whether the judge can be relied on."""
    url = f"sqlite:///{tmp_path}/agon.db"
    missing = agon("arena", "judges", "--database", url)
    assert (missing.code, "no such database" in missing.err) == (3, True)
    store = open_store(url)
    assert "no model judge was used" in agon("arena", "judges", "--database", url).out
    with store.write() as session:
        session.judging.save_usage(ModelUsage(judge="judge", day="2026-01-31", calls=7, tokens=9))
        session.judging.add_count("m", "flip", successes=8, trials=10)
    store.close()
    table = agon("arena", "judges", "--database", url)
    assert table.code == 0
    assert "2026-01-31" in table.out
    assert "0.943" in table.out
    page = agon("arena", "judges", "--database", url, "--format", "json").json()
    assert page["usage"][0]["calls"] == 7
    assert (page["measurements"][0]["share"], page["measurements"][0]["trials"]) == (0.8, 10)
