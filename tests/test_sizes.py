"""What `make test` runs of a test is spread evenly, and the same in every process."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

import sizes
from sizes import left_out


@dataclass(frozen=True)
class Case:
    """A case of a test, with the mark of the test."""

    nodeid: str
    mark: pytest.Mark | None = field(default=None, hash=False)

    @property
    def name(self) -> str:
        """Return the name of the function with the values of its parameters."""
        return self.nodeid.rpartition("::")[2]

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        """Return the mark if it has this name."""
        return self.mark if self.mark is not None and self.mark.name == name else None


def _run(cases: list[Case], monkeypatch: pytest.MonkeyPatch, *, full: bool = False) -> list[Case]:
    monkeypatch.setattr(sizes, "ALL", full)
    others = left_out(cast("Any", cases))
    return [case for case in cases if case not in cast("Any", others)]


def _grid(mark: pytest.Mark | None) -> list[Case]:
    return [Case(f"tests/test_a.py::test_b[{x}-{y}]", mark) for x in range(4) for y in "abcd"]


def test_every_value_of_each_parameter_is_among_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal distances would take one value of the parameter that changes fastest."""
    chosen = _run(_grid(pytest.mark.sample(4).mark), monkeypatch)
    assert len(chosen) == 4
    for place in (0, 1):
        values = Counter(case.name[7:-1].split("-")[place] for case in chosen)
        assert set(values.values()) == {1}


def test_a_sample_is_of_each_test_and_does_not_depend_on_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The processes of a run must agree, and a failure is repeated by running the file alone."""
    mark = pytest.mark.sample(2).mark
    alone = _run(_grid(mark), monkeypatch)
    other = [Case(f"tests/test_a.py::test_other[{x}]", mark) for x in range(9)]
    both = _run([*other, *reversed(_grid(mark))], monkeypatch)
    assert len(both) == 4
    assert set(alone) < set(both)


def test_each_case_is_tried_on_one_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests of statements that both understand alike are divided between them."""
    mark = pytest.mark.one_database.mark
    names = [f"test_{name}[{each}]" for name in "abcdefgh" for each in ("sqlite", "postgresql")]
    cases = [Case(f"t.py::{name}", mark) for name in names]
    other = [Case(f"t.py::test_v[{each}-{n}]", mark) for n in "xyz" for each in ("SQLite", "Post")]
    chosen = _run(cases, monkeypatch)
    assert len({case.name.partition("[")[0] for case in chosen}) == len(chosen) == 8
    assert {case.name.partition("[")[2] for case in chosen} == {"sqlite]", "postgresql]"}
    assert _run(other, monkeypatch) == other
    assert _run(cases, monkeypatch, full=True) == cases


def test_what_is_exhaustive_waits_for_make_test_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which runs every case of everything."""
    cases = [*_grid(pytest.mark.sample(3).mark), Case("t.py::test_c", pytest.mark.exhaustive.mark)]
    assert "test_c" not in {case.name for case in _run(cases, monkeypatch)}
    assert _run(cases, monkeypatch, full=True) == cases
    assert _run(_grid(None), monkeypatch) == _grid(None)
