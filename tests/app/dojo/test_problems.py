"""Test setters' packages: what is read, and all their issues at once."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from agon.app.dojo.problems import read_problem
from agon.app.files import InvalidPackage
from agon.errors import NotFound
from app.dojo.packing import SQUARES, pack_problem


def test_a_package_declares_a_problem(tmp_path: Path) -> None:
    """Times are in UTC, the id is of the canonical source, other values are as declared."""
    folder = pack_problem(
        tmp_path / "p",
        setter=SQUARES.replace("\n", "\r\n") + "\r\n\r\n",
        interface="seq",
        setter_user_id="gus",
        freeze_started_at="2026-03-01T02:00:00+02:00",
    )
    problem = read_problem(folder)
    assert problem.source == SQUARES.encode()
    assert problem.id == hashlib.sha256(SQUARES.encode()).hexdigest()
    assert problem.declaration() == {
        "title": "Squares",
        "interface": "seq",
        "N_check": 20,
        "first_index": 1,
        "setter_user_id": "gus",
        "freeze_started_at": "2026-03-01T00:00:00.000000Z",
    }


def test_interface_and_number_of_terms_have_defaults(tmp_path: Path) -> None:
    """The interface is that of the source, 200 terms are the season's setting."""
    folder = pack_problem(tmp_path / "cubes", setter="def gen(N): return [n**3 for n in range(N)]")
    (folder / "problem.json").write_text("{}")
    problem = read_problem(folder)
    assert (problem.title, problem.interface, problem.n_check) == ("cubes", "gen", 200)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"N_check": 1}, "N_check is 1; give a whole number 2 to 100,000"),
        ({"N_check": True}, "N_check is True"),
        ({"N_check": "200"}, "N_check is '200'"),
        ({"first_index": 1.0}, "first_index is 1.0; give a whole number"),
        ({"first_index": 1 << 60}, "give a whole number"),
        ({"first_index": True}, "first_index is True; give a whole number"),
        ({"first_indx": 1, "first_index": None}, "did you mean first_index?"),
        ({"interface": "fn"}, "interface is 'fn'; give seq or gen"),
        ({"interface": "gen"}, "interface is gen"),
        ({"title": 7}, "title is not a text"),
        ({"setter_user_id": [1]}, r"setter_user_id is \[1\]"),
        ({"freeze_started_at": "soon"}, "freeze_started_at is 'soon', which is not a time"),
        ({"freeze_started_at": 1}, "freeze_started_at is not text"),
        ({"freeze_started": "2026-01-01"}, "did you mean freeze_started_at?"),
        ({"n_chek": 9, "N_check": None}, "did you mean N_check?"),
    ],
)
def test_an_invalid_declaration_is_reported_with_its_remedy(
    tmp_path: Path, declared: dict[str, Any], message: str
) -> None:
    """The setter corrects a file, so the file and the key are named."""
    folder = pack_problem(tmp_path / "p", **declared)
    with pytest.raises(InvalidPackage, match=message) as error:
        read_problem(folder)
    assert str(folder / "problem.json") in str(error.value)


@pytest.mark.parametrize(
    ("setter", "message"),
    [
        ("import os\ndef seq(n): return n\n", "setter.py:1: import of os"),
        ("x = 1\n", "neither seq.n. nor gen.N."),
        (f"{SQUARES}def gen(N): return []\n", "both seq and gen"),
        ("def seq(n:\n", "setter.py:1: not Python"),
        ("", "neither seq.n. nor gen.N."),
    ],
)
def test_an_invalid_setter_is_reported_with_its_line(
    tmp_path: Path, setter: str, message: str
) -> None:
    """It is scanned like solvers before it runs."""
    with pytest.raises(InvalidPackage, match=message):
        read_problem(pack_problem(tmp_path / "p", setter=setter))


def test_all_issues_of_a_package_are_reported_at_once(tmp_path: Path) -> None:
    """The setter corrects them in one go."""
    folder = pack_problem(tmp_path / "p", N_check=0, interface="x", setter="import os\n")
    with pytest.raises(InvalidPackage) as error:
        read_problem(folder)
    assert len(error.value.issues) == 4


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[1]", "holds a list, not an object"),
        (b"{", "is not JSON"),
        (b'{"title": "a", "title": "b"}', "has the key 'title' twice"),
        (b"\xff", "is not UTF-8 at byte 0"),
        (b"[" * 40_000, "nests more than 100 levels"),
        (b'{"N_check": ' + b"1" * 5000 + b"}", "has a number beyond 1.8e308"),
        (b'{"title": "\\ud800"}', "is not JSON in UTF-8 .no low surrogate"),
        (b" " * 70_000, "has more than 65,536 bytes"),
    ],
)
def test_hostile_json_gets_an_error_message(tmp_path: Path, content: bytes, message: str) -> None:
    """Packages come from unknown users."""
    folder = pack_problem(tmp_path / "p")
    (folder / "problem.json").write_bytes(content)
    with pytest.raises(InvalidPackage, match=message):
        read_problem(folder)


def test_a_missing_folder_or_file_is_named(tmp_path: Path) -> None:
    """The path may be wrong in two ways."""
    with pytest.raises(NotFound, match="no such folder"):
        read_problem(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        InvalidPackage, match=r"problem\.json: is missing.*\n.*setter\.py: is missing"
    ):
        read_problem(tmp_path / "empty")


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("setter", "setter_user_id"),
        ("deadline", "freeze_started_at"),
        ("freezeStartedAt", "freeze_started_at"),
        ("Freeze Started At", "freeze_started_at"),
        ("n_check", "N_check"),
        ("offset", "first_index"),
        ("first-index", "first_index"),
        ("setterUserID", "setter_user_id"),
        ("titel", "title"),
    ],
)
def test_an_unknown_key_is_an_error_that_names_what_is_meant(
    tmp_path: Path, key: str, meant: str
) -> None:
    """A declaration is a commitment: a freeze that is not read would publish a problem without."""
    folder = pack_problem(tmp_path / "p")
    (folder / "problem.json").write_text(json.dumps({"N_check": 20, key: "ada"}))
    with pytest.raises(InvalidPackage, match=f"unknown key '{key}'; did you mean {meant}."):
        read_problem(folder)


def test_a_key_like_nothing_known_is_an_error_and_own_keys_are_not(tmp_path: Path) -> None:
    """What is not read is not passed over in silence, unless its author says so."""
    folder = pack_problem(tmp_path / "p", difficulty=3, mood=None)
    with pytest.raises(InvalidPackage, match="own keys begin with x-") as error:
        read_problem(folder)
    assert len(error.value.issues) == 2
    own = pack_problem(tmp_path / "q")
    (own / "problem.json").write_text('{"title": "Squares", "x-difficulty": 3}')
    assert read_problem(own).title == "Squares"


def test_what_was_understood_has_the_defaults_too(tmp_path: Path) -> None:
    """A missing freeze or setter is seen before anyone submits."""
    plain = read_problem(pack_problem(tmp_path / "p")).understood()
    assert plain["setter"].startswith("none")
    assert plain["freeze"] == "none: no submission is late"
    assert (plain["N_check"], plain["first_index"]) == ("20", "1")
    declared = read_problem(
        pack_problem(
            tmp_path / "q", setter_user_id=7, freeze_started_at="2026-03-01T02:00:00+02:00"
        )
    ).understood()
    assert (declared["setter"], declared["freeze"]) == ("7", "2026-03-01T00:00:00.000000Z")
