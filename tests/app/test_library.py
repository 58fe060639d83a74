"""Test the public library: its names, and that ``import agon`` loads nothing before use."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import agon
from agon.app.webhooks.signatures import format_secret, signed_headers
from cli.command import arena_folder

HEAVY = ("numpy", "pyarrow", "duckdb", "pydantic", "numba", "scipy", "ibis", "pandas", "rich")


def loaded(code: str) -> set[str]:
    """Run code in a new interpreter and return the heavy modules that it loaded."""
    script = f"{code}\nimport sys; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_agon_loads_nothing_heavy() -> None:
    """A program that imports agon starts as fast as one that does not."""
    assert loaded("import agon") == set()


def test_the_command_line_loads_nothing_heavy_for_its_help() -> None:
    """``agon --help`` is fast, with the first sentences of all commands."""
    assert not set(HEAVY) & loaded("from agon.cli.run import run; run(['--help'])")


@pytest.mark.exhaustive
def test_rating_a_large_frame_loads_neither_scipy_nor_a_compiler() -> None:
    """Counting a hundred thousand battles takes less time than importing either."""
    code = (
        "import agon, numpy, pyarrow\n"
        "number = numpy.arange(20_000)\n"
        "sides = (numpy.char.add('m', (number * step % 7).astype(str)) for step in (1, 3))\n"
        "table = dict(zip(('model_a', 'model_b'), sides))\n"
        "table['winner'] = numpy.where(number % 3, 'model_a', 'model_b')\n"
        "keep = table['model_a'] != table['model_b']\n"
        "table = pyarrow.table({name: values[keep] for name, values in table.items()})\n"
        "assert len(agon.rate(table, method='bradley-terry', interval=True)) == 6"
    )
    assert loaded(code) & {"scipy", "numba", "duckdb"} == set()


@pytest.mark.parametrize("name", sorted(set(agon.__all__)))
def test_every_public_name_exists(name: str) -> None:
    """The documented names can be imported."""
    assert getattr(agon, name) is not None
    assert name in dir(agon)


def test_other_names_raise_an_attribute_error() -> None:
    """A typing error must be reported."""
    with pytest.raises(AttributeError, match="scoer"):
        _ = agon.scoer  # type: ignore[attr-defined]  # a typing error


def test_a_board_is_read_by_other_libraries(tmp_path: Path) -> None:
    """Arrow, polars, pandas and plain rows have the same numbers."""
    result = agon.score("arena", arena_folder(tmp_path / "arena"))
    board = result.board("bots")
    rows = board.rows()
    assert isinstance(board.to_arrow(), pa.Table)
    assert board.to_polars().to_dicts() == rows
    assert board.to_pandas()["score"].tolist() == [row["score"] for row in rows]
    assert pa.table(board).to_pylist() == rows


@pytest.mark.exhaustive
def test_the_readme_example_works(tmp_path: Path) -> None:
    """It reads, scores, shows, explains and checks records in five lines."""
    records = agon.read_records("arena", arena_folder(tmp_path / "arena"))
    result = agon.score(
        "arena", records, edition="sentience-1", overrides={"k_new": "16"}, as_of=None
    )
    first = result.board("bots").rows(top=1)[0]
    explanation = result.explain(first["id"])
    assert explanation.score == first["score"]
    assert sum(part.points for part in explanation.parts) == pytest.approx(first["score"])
    assert result.findings == []
    assert len(result.fingerprint) == 64


def test_editions_are_part_of_the_library() -> None:
    """Users list and read editions by it."""
    assert "dojo/0.2" in agon.editions.editions("dojo")
    assert agon.edition("dojo/0.2").rules.model_dump()["max_literal_digits"] == 64


def test_a_result_lists_its_boards_and_a_board_its_rows(tmp_path: Path) -> None:
    """Names with a pattern are listed for what there is; a loop over a board reads its rows."""
    assert agon.score("arena", arena_folder(tmp_path / "arena")).boards[0] == "bots"
    season = agon.score("dojo", agon.simulate("dojo", size=20, seed=1))
    problems = season.records.arrow("problems")["id"].to_pylist()
    assert season.boards == ("season", *(f"problem:{name}" for name in problems))
    for name in season.boards:
        assert list(season.board(name)) == season.board(name).rows()


def test_an_explanation_is_drawn_with_the_rules_it_was_made_under() -> None:
    """The drawing is the one of the result, also after parts are left out."""
    overrides = {"self_feedback": "ignore"}
    why = agon.explain("community", "examples/tutorial", "ada", overrides=overrides)
    result = agon.score("community", "examples/tutorial", overrides=overrides)
    assert why.plot().svg == result.plot("ada").svg
    assert "self_feedback=ignore" in why.first(1).plot().svg


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("sides", "moved"),
    [
        ({"right": {"self_feedback": "ignore"}}, 1),
        ({"overrides": {"self_feedback": "ignore"}}, 1),
        ({"left": "scores0002-1", "overrides": {"self_feedback": "ignore"}}, 1),
        ({"left": {"self_feedback": "ignore"}, "overrides": {}}, 0),
        ({"left": {"self_feedback": "ignore"}, "right": "community/scores0002-1"}, 1),
        ({"right": agon.RuleSet("scores0002-1"), "overrides": {"self_feedback": "ignore"}}, 1),
    ],
)
def test_sides_of_a_comparison_are_editions_or_overrides(sides: Any, moved: int) -> None:
    """As in the shell, where both sides have one edition and the right one the overrides."""
    comparison = agon.compare("community", "examples/tutorial", **sides)
    assert comparison.summary.moved == moved
    table = comparison.to_arrow()
    assert table.num_rows == moved
    assert comparison.to_polars().to_dicts() == table.to_pylist()
    assert comparison.to_pandas()["id"].tolist() == table["id"].to_pylist()
    assert pa.table(comparison) == table
    assert [move.to_dict() for move in comparison.moves] == table.to_pylist()


@pytest.mark.parametrize("wrong", [5, ["self_feedback"], 1.5, b"hardened-1"])
def test_rules_of_another_type_are_a_type_error(wrong: Any) -> None:
    """The message shows the form."""
    with pytest.raises(TypeError, match="an edition's name, overrides as a dict"):
        agon.compare("community", "examples/tutorial", right=wrong)
    for call in (agon.score, agon.check, agon.compare):
        with pytest.raises(TypeError, match="values by name of rule"):
            call("community", "examples/tutorial", overrides=wrong)
    with pytest.raises(TypeError, match="values by name of rule"):
        agon.compare("community", "examples/tutorial", right=agon.RuleSet(overrides=wrong))
    with pytest.raises(TypeError, match="values by name of rule"):
        agon.rate([], overrides=wrong)


def test_an_edition_is_found_by_discipline_and_name() -> None:
    """The discipline comes first, as in all other calls."""
    edition = agon.edition("community", "scores0002-1")
    assert edition == agon.edition("community/scores0002-1")
    assert edition == agon.edition("scores0002-1", of="community")
    assert edition == agon.edition("community", "community/scores0002-1")
    with pytest.raises(agon.NotFound, match="scores0002-1"):
        agon.edition("community", "scores002-1")
    with pytest.raises(TypeError, match="two disciplines"):
        agon.edition("community", "scores0002-1", of="dojo")  # type: ignore[call-overload]


def test_agreement_takes_ids_and_labels_of_any_kind() -> None:
    """A table of labels needs no numbering; columns of data frames are columns."""
    tasks, workers = ["t1"] * 3 + ["t2"] * 3, ["ann", "bob", "cy"] * 2
    labels = ["no", "no", "yes", "yes", "yes", "yes"]
    estimate = agon.agreement.dawid_skene(tasks, workers, labels)
    assert estimate.truth == {"t1": "no", "t2": "yes"}
    assert estimate.workers["cy"].accuracy == pytest.approx(0.5, abs=1e-3)
    frame = pa.table({"task": tasks, "worker": workers, "label": labels})
    assert agon.agreement.dawid_skene(frame["task"], frame["worker"], frame["label"]) == estimate
    numbers = agon.agreement.dawid_skene([7, 7, 9], [1, 2, 1], [0, 0, 1])
    assert (numbers.truth, list(numbers.workers)) == ({7: 0, 9: 1}, [1, 2])


@pytest.mark.parametrize("gap", [None, float("nan"), 3])
def test_a_missing_label_is_no_label(gap: Any) -> None:
    """It would be counted as one more class."""
    labels: list[Any] = ["yes", gap]
    with pytest.raises(ValueError, match="labels"):
        agon.agreement.dawid_skene(["a", "b"], ["x", "x"], labels)
    with pytest.raises(ValueError, match="tasks"):
        agon.agreement.dawid_skene([1.0, float("nan")], ["x", "x"], ["yes", "no"])


def test_a_webhook_is_verified_in_one_call() -> None:
    """A receiver needs the secret as it got it, and the request."""
    secret = Random(1).randbytes(32)
    headers = signed_headers(secret, id="m1", at=datetime.now(UTC), body=b"{}")
    text = format_secret(secret)
    assert agon.verify_webhook(text, headers=headers, body=b"{}") == "m1"
    with pytest.raises(agon.CheckFailed, match="no signature"):
        agon.verify_webhook(text, headers=headers, body=b"{ }")
    late = datetime.now(UTC) + timedelta(hours=1)
    with pytest.raises(agon.CheckFailed, match="more than"):
        agon.verify_webhook(text, headers=headers, body=b"{}", now=late)
    with pytest.raises(agon.Unreadable, match="whsec_"):
        agon.verify_webhook(text[:20], headers=headers, body=b"{}")
