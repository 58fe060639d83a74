"""Test simulations: seeded records and the truth on disk, and no incomplete files."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import agon
from agon.app.analysis.simulate import write_simulation
from agon.disciplines import BUILT_IN
from agon.errors import Conflict, NotFound
from agon.records.writing import TableFormat

pytestmark = pytest.mark.sample(1)
"""Each test runs with one kind of database, client or source; `make test-all` tries all."""


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", BUILT_IN)
def test_simulated_records_are_valid_and_can_be_scored(tmp_path: Path, name: str) -> None:
    """Written records are read unchanged."""
    write_simulation(agon.simulate(name, size=60, seed=2), tmp_path / name)
    assert agon.check(name, tmp_path / name).problems == ()
    assert len(agon.score(name, tmp_path / name).board())
    assert (tmp_path / name / "truth" / "people.parquet").is_file()


@pytest.mark.parametrize("name", BUILT_IN)
def test_equal_arguments_give_equal_records(name: str) -> None:
    """A simulation is identified by its arguments."""
    one, same, other = (agon.simulate(name, size=40, seed=seed) for seed in (1, 1, 2))
    assert all(one.tables[table].equals(same.tables[table]) for table in one.tables)
    assert any(not one.tables[table].equals(other.tables[table]) for table in one.tables)


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", ["csv", "ndjson"])
def test_every_file_format_has_the_same_records(tmp_path: Path, form: TableFormat) -> None:
    """The content hash does not depend on the format."""
    made = agon.simulate("arena", size=50, seed=4, attacks=["position-bias"])
    write_simulation(made, tmp_path / "parquet")
    write_simulation(made, tmp_path / form, form=form)
    hashes = {agon.read_records("arena", tmp_path / kind).sha256 for kind in ("parquet", form)}
    assert len(hashes) == 1


def test_an_unknown_attack_is_not_found() -> None:
    """The error has a suggestion."""
    with pytest.raises(NotFound, match="did you mean collusion"):
        agon.simulate("arena", attacks=["colusion"])


def test_the_truth_names_the_attackers(tmp_path: Path) -> None:
    """Findings are compared with it."""
    write_simulation(agon.simulate("dojo", size=60, attacks=["tag-farming"]), tmp_path / "d")
    people = pq.read_table(tmp_path / "d" / "truth" / "people.parquet")
    assert "tag-farming" in set(people["attack"].to_pylist())


def test_existing_files_are_not_overwritten(tmp_path: Path) -> None:
    """A folder that is not empty may have a user's files."""
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "notes.txt").write_text("mine")
    with pytest.raises(Conflict):
        write_simulation(agon.simulate("dojo", size=20), tmp_path / "d")
    assert [path.name for path in (tmp_path / "d").iterdir()] == ["notes.txt"]
