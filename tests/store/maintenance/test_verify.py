"""The check of a database names every issue, and nothing else."""

from pathlib import Path

import pytest

from agon.editions import edition, rules_sha256
from agon.errors import CheckFailed, Unavailable
from agon.store import open_store
from agon.store.connection.engines import begin, open_engine
from agon.store.maintenance.verify import verify

pytestmark = pytest.mark.one_database


def _change(url: str, statement: str) -> None:
    engine = open_engine(url)
    with begin(engine, writing=True) as connection:
        connection.exec_driver_sql(statement)
    engine.dispose()


def test_a_whole_database_has_no_faults(filled: str) -> None:
    """Operators ignore checks that raise false alarms."""
    report = verify(filled)
    assert (report.contests, report.entries, report.issues) == (1, 4, ())
    report.require_no_issues()


LINE = "(SELECT line FROM entries WHERE seq = 3)"


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            f"UPDATE entries SET line = {LINE} WHERE seq = 4",
            "contest spring, line 4: the chain gives",
        ),
        ("DELETE FROM entries WHERE seq = 3", "line 3: the entries 3 to 3 are missing"),
        ("DELETE FROM entries WHERE seq = 4", "is at 4, its entries end at 3"),
        ("UPDATE entries SET at = at + 1 WHERE seq = 2", "line 2: the columns of the entry differ"),
        ("UPDATE entries SET external_id = 'x' WHERE seq = 3", "line 3: the columns of the entry"),
        (
            "UPDATE entries SET kind = 'record-replaced' WHERE seq = 3",
            "line 3: the columns of the entry",
        ),
        ("UPDATE contests SET title = 'Autumn'", "title is 'Autumn', its entries give 'Spring'"),
        ("UPDATE contests SET state = 'final'", "state is 'final', its entries give 'open'"),
        (f"UPDATE contests SET head = {LINE}", "its head is another"),
        ("DELETE FROM snapshot_rows WHERE NOT unscored", "has 1 chunks of rows, it needs 2"),
    ],
)
def test_every_change_is_named(filled: str, statement: str, said: str) -> None:
    """Who can write to the database cannot rewrite a contest unseen."""
    _change(filled, statement)
    report = verify(filled)
    assert any(said in str(issue) for issue in report.issues), report.issues
    with pytest.raises(CheckFailed, match=r"; re(store|build)"):
        report.require_no_issues()


def test_rules_that_are_not_the_recorded_ones_are_named(filled: str) -> None:
    """A board is only what its edition says while the edition has the rules it was made under."""
    other = edition("arena/sentience-1").with_rules({"elo_start": 1000.5})
    rules = f"manifest, '{edition('arena/sentience-1').rules_sha256}'"
    _change(filled, f"UPDATE snapshots SET manifest = replace({rules}, '{rules_sha256(other)}')")
    (issue,) = verify(filled).issues
    assert str(issue).startswith(
        "contest spring, board models, line 4: expected rules_sha256 "
        f"{rules_sha256(other)} as recorded, edition arena/sentience-1 gives "
    )
    assert "it may be any of elo_start, " in str(issue)

    _change(filled, "UPDATE snapshots SET manifest = replace(manifest, 'sentience-1', 'gone-1')")
    (issue,) = verify(filled).issues
    assert "there is no edition 'arena/gone-1'" in str(issue)


def test_a_database_that_is_not_there_is_no_whole_one(tmp_path: Path) -> None:
    """Checking the wrong path must not end in "nothing is wrong"."""
    with pytest.raises(Unavailable, match="agon db upgrade"):
        verify(f"sqlite:///{tmp_path}/none.db")


def test_a_contest_without_entries_yet_is_whole(url: str) -> None:
    """An empty instance has no issues."""
    open_store(url).close()
    assert verify(url).issues == ()
