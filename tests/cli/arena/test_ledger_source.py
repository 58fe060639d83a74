"""An exported ledger of an arena is examined as its contest is."""

from pathlib import Path

import pytest

import agon as library
from agon.app.arena.robustness import robustness
from agon.app.replay.ledger_source import score_source
from agon.errors import Conflict
from agon.ledger.issues import InvalidEntry
from cli.command import Cli


@pytest.fixture
def ledger(agon: Cli, filled: Path, tmp_path: Path) -> Path:
    """Return the folder of the exported ledger of a contest."""
    folder = tmp_path / "ledger"
    words = ("contest", "export", "spring", "--out", str(folder))
    assert agon(*words, "--database", f"sqlite:///{filled}/agon.db").code == 0
    return folder


@pytest.mark.exhaustive
def test_an_exported_ledger_is_audited_like_its_records(
    agon: Cli, ledger: Path, arena: Path
) -> None:
    """Whoever has the ledger need not find the tables that were sent to the contest."""
    stated = {"bradley_terry_regularisation": 1}
    assert (
        library.audit(ledger, overrides=stated).probes
        == library.audit(arena, overrides=stated).probes
    )
    assert robustness(ledger, overrides=stated).ranks == robustness(arena, overrides=stated).ranks
    command = ("arena", "audit", str(ledger), "--set", "bradley_terry_regularisation=1")
    assert "separation" in agon(*command).out
    assert agon("arena", "rate", str(ledger)).err.endswith("examines that of an arena\n")


def test_a_ledger_is_verified_before_it_is_examined(ledger: Path) -> None:
    """The audit of matches that somebody changed would be about another contest."""
    lines = ledger / "ledger.ndjson"
    lines.write_text(lines.read_text().replace('"winner":"a"', '"winner":"b"'))
    with pytest.raises(InvalidEntry, match="as they were"):
        library.audit(ledger)


def test_what_does_not_fit_a_ledger_is_an_error(ledger: Path) -> None:
    """Its tables have one form, and it is of one discipline."""
    with pytest.raises(Conflict, match="leave out columns"):
        library.audit(ledger, columns={"winner": "result"})
    with pytest.raises(Conflict, match="expected records of community, got records of arena"):
        score_source("community", ledger)
