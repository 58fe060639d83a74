"""Every JSON value is either accepted and returned as its record says, or rejected.

JSON fragments are sent as values, keys and ids of records, then read by every reader of a
ledger: verification, export, import, replay, backup and restore.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agon.app.contests.boards.publish import publish
from agon.app.contests.lifecycle.transfer import export, import_contest
from agon.app.replay.replay import replay
from agon.disciplines import discipline
from agon.store.maintenance.backup import backup, restore
from agon.store.maintenance.verify import verify
from fakes.instance import Instance, instance_at
from fakes.service import OPERATOR, service_at
from sizes import ALL, sample, size

if TYPE_CHECKING:
    from postgresql_server import Postgresql

NUMBERS = count()
COLUMNS = [column.name for column in discipline("community").schema.table("users").columns]
TIME = datetime(2026, 11, 22, tzinfo=UTC)

EXTREMES = [
    *("[" * depth + "]" * depth for depth in (1, 90, 98, 99, 100, 101, 249, 250, 251, 252, 253, 254,
                                              255, 1000, 1024, 1025, 5000)),
    *('{"a":' * depth + "1" + "}" * depth for depth in (90, 99, 101, 252, 253, 300)),
    *("9" * digits for digits in (15, 16, 18, 19, 20, 21, 308, 309, 5000)),
    "18446744073709551615", "18446744073709551616", "9223372036854775808", "-9223372036854775808",
    "-9223372036854775809", "1e400", "-1e400", "1e308", "1e-400", "-0.0", "-0", "0.1e1", "1E2",
    "1.0", "0.30000000000000004", "1e16", "12345678901234567890.0", "01", "1.", ".5", "+1", "0x10",
    "NaN", "Infinity", "-Infinity", "nan", "true", "null", "nul", "undefined", "",
    '"\\ud800"', '"\\udfff\\ud800"', '"\\ud83d\\ude00"', '"\\u0000"', '"\\u001f\\u007f\\u0080"',
    '"\\u2028\\u2029\\ufeff\\ufffe\\uffff"', '"\\u202e"', '"e\\u0301"', '"\\u00e9"', '"\\ufb01"',
    '"a\tb"', '"a\\tb"', '"\\x41"', "'a'", '"' + "x" * 100_000 + '"', '"\\/"', '"a:b\\u003ac"',
    '{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"a":":","a":"\\u003a"}', '{"":1}', '{"\\u0000":1}',
    '{"e\\u0301":1,"\\u00e9":2}', '{"__proto__":{"a":1}}', "[1,2,]", "{,}", "[1]x",
    '[["a",{}],null]',
    json.dumps({str(number): number for number in range(9_999)}),
    json.dumps({str(number): number for number in range(10_001)}),
]  # fmt: skip
"""Values at and beyond each limit, as JSON text or almost JSON."""

TEXTS = st.text(st.characters(), max_size=8)  # of all planes, lone surrogates included
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
).map(json.dumps)
KEYS = st.one_of(TEXTS, st.sampled_from(["id", "affiliation", "ID", "row", "table", "seq", " id"]))


@dataclass
class Sender:
    """Sends rows to one contest and stores the accepted ones."""

    instance: Instance
    contest: str
    accepted: list[Any]

    def send(self, row: str) -> None:
        """Send a row as JSON text; check that a rejected row leaves no entry."""
        before = self._seq()
        body = f'{{"table":"users","row":{row}}}'.encode("utf-8", "surrogatepass")
        kind = ["application/x-ndjson", "application/json"][len(self.accepted) % 2]
        response = self.instance.post(f"/contests/{self.contest}/records", "organiser",
                                      content=body, headers={"content-type": kind})  # fmt: skip
        assert response.status_code in {200, 201, 409, 422}, (row[:200], response.text)
        assert self._seq() - before == (response.status_code == 201)
        if response.status_code == 201:
            self.accepted.append(_normal(json.loads(row, object_pairs_hook=_each_once)))

    def _seq(self) -> int:
        with self.instance.service.store.read() as session:
            return session.contests.get(self.contest).seq


def _normal(row: dict[str, Any]) -> dict[str, Any]:
    """Return what is stored of a row: columns that have a value, and ids of digits as numbers."""
    stored = {key: row[key] for key in COLUMNS if row.get(key) not in (None, "")}
    if isinstance(stored["id"], float) and stored["id"].is_integer():
        stored["id"] = int(stored["id"])
    if re.fullmatch("0|-?[1-9][0-9]{0,17}", str(stored["id"])):
        stored["id"] = int(stored["id"])
    return stored


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs), "a key that was given twice was accepted"
    return dict(pairs)


@pytest.fixture(params=["sqlite", "postgresql"], scope="module")
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the URL of an empty database, for each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path_factory.mktemp('round')}/agon.db"
    server: Postgresql = request.getfixturevalue("postgresql")
    return server.service()


@pytest.fixture(scope="module")
def instance(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """Open an instance on the database."""
    new_instance = instance_at(tmp_path_factory.mktemp("instance"), url=database)
    yield new_instance
    new_instance.close()


def _sender(instance: Instance) -> Sender:
    return Sender(instance, instance.contest(f"round-{next(NUMBERS)}", people=1), [])


def _read_everywhere(sender: Sender, folder: Path) -> None:
    """Check that each reader of the ledger returns all rows in their normal form."""
    service, name = sender.instance.service, sender.contest
    publish(service, name)
    board = sender.instance.get(f"/contests/{name}/boards/user-score", "organiser").json()
    assert verify(sender.instance.app.state.serving.settings.database).issues == ()
    export(service, name, folder / "out")
    written = (folder / "out" / "ledger.ndjson").read_bytes()
    rows = [json.loads(line)["body"]["row"] for line in written.splitlines() if b'"row":' in line]
    assert list(map(repr, map(_sorted, rows[1:]))) == list(
        map(repr, map(_sorted, sender.accepted))
    )  # fmt: skip
    (folder / "other").mkdir()
    target = service_at(folder / "other")
    try:
        import_contest(target, folder / "out", by=OPERATOR)
        export(target, name, folder / "again")
    finally:
        target.store.close()
    assert (folder / "again" / "ledger.ndjson").read_bytes() == written
    replayed = replay(iter(written.splitlines()), contest=name, board="user-score")
    replayed.live.close()
    assert replayed.board_sha256 == board["board_sha256"]


def _sorted(value: Any) -> Any:
    """Return a value with sorted keys, so that equal ones have the same ``repr``."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


@pytest.mark.exhaustive
def test_extreme_values_are_returned_unchanged_or_rejected(
    instance: Instance, database: str, tmp_path: Path
) -> None:
    """Limits are checked on input, at and beyond each bound."""
    sender = _sender(instance)
    for number, value in enumerate(sample(EXTREMES, at_least=40)):
        sender.send(f'{{"id":"v{number}","affiliation":"org","note":{value}}}')
        sender.send([f'{{"id":{value},"affiliation":"org"}}', value,
                     f'{{"id":"a{number}","affiliation":{value}}}'][number % 3])  # fmt: skip
    for length in (100, 500, 501, 2_000, 3_000, 100_000):
        random = "".join(Random(length).choices("0123456789abcdef", k=length))
        sender.send(f'{{"id":"{random}","affiliation":"org"}}')
        sender.send(f'{{"id":"{"😀" * length}","affiliation":"org"}}')
    _read_everywhere(sender, tmp_path)
    backup(database, tmp_path / "backup.tar.gz", now=TIME)
    restored = restore(tmp_path / "backup.tar.gz", f"sqlite:///{tmp_path}/restored.db", now=TIME)
    assert restored.issues == ()
    assert len(sender.accepted) > (50 if ALL else 30)


@pytest.mark.sample(1)
@given(rows=st.lists(st.tuples(KEYS, VALUES, VALUES), max_size=25))
@settings(max_examples=size(20, at_least=3, dear=True), deadline=None, derandomize=True,
          suppress_health_check=list(HealthCheck))  # fmt: skip
def test_any_json_value_is_returned_unchanged_or_rejected(
    instance: Instance, tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]]
) -> None:
    """Hypothesis finds values that the list of extremes lacks."""
    folder = tmp_path_factory.mktemp("generated")
    sender = _sender(instance)
    for number, (key, value, identifier) in enumerate(rows):
        sender.send(f'{{"id":"n{number}","affiliation":"org",{json.dumps(key)}:{value}}}')
        sender.send(f'{{"id":{identifier},"affiliation":"org"}}')
    _read_everywhere(sender, folder)
