"""Simulating: seeded records on disk, the truth beside them, and nothing half-written."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import agon
from agon.app.analysis.simulate import write_simulation
from agon.disciplines import BUILT_IN
from agon.errors import Conflict, NotFound


@pytest.mark.parametrize("name", BUILT_IN)
def test_simulated_records_are_valid_and_can_be_scored(tmp_path: Path, name: str) -> None:
    """What is written is what is read."""
    write_simulation(agon.simulate(name, size=60, seed=2), tmp_path / name)
    assert agon.check(name, tmp_path / name).problems == ()
    assert len(agon.score(name, tmp_path / name).board())
    assert (tmp_path / name / "truth" / "people.parquet").is_file()


@pytest.mark.parametrize("name", BUILT_IN)
def test_equal_arguments_give_equal_records(name: str) -> None:
    """A simulation can be named by its arguments."""
    one, same, other = (agon.simulate(name, size=40, seed=seed) for seed in (1, 1, 2))
    assert all(one.tables[table].equals(same.tables[table]) for table in one.tables)
    assert any(not one.tables[table].equals(other.tables[table]) for table in one.tables)


@pytest.mark.parametrize("form", ["csv", "ndjson"])
def test_every_kind_of_file_holds_the_same_records(tmp_path: Path, form: str) -> None:
    """The content hash does not know the format."""
    made = agon.simulate("arena", size=50, seed=4, attacks=["position-bias"])
    write_simulation(made, tmp_path / "parquet")
    write_simulation(made, tmp_path / form, form=form)
    hashes = {agon.read_records("arena", tmp_path / kind).sha256 for kind in ("parquet", form)}
    assert len(hashes) == 1


def test_an_unknown_attack_is_not_found() -> None:
    """With the closest there is."""
    with pytest.raises(NotFound, match="did you mean collusion"):
        agon.simulate("arena", attacks=["colusion"])


def test_an_attacker_stands_in_the_truth(tmp_path: Path) -> None:
    """A scorer is judged against it."""
    write_simulation(agon.simulate("dojo", size=60, attacks=["tag-farming"]), tmp_path / "d")
    people = pq.read_table(tmp_path / "d" / "truth" / "people.parquet")
    assert "tag-farming" in set(people["attack"].to_pylist())


def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    """A folder with anything in it is somebody's."""
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "notes.txt").write_text("mine")
    with pytest.raises(Conflict):
        write_simulation(agon.simulate("dojo", size=20), tmp_path / "d")
    assert [path.name for path in (tmp_path / "d").iterdir()] == ["notes.txt"]
