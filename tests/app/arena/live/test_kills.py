"""Kill a worker before and after each of its commits: the ledger ends as without kills."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from agon.app.replay.replica_cache import ReplicaCache
from agon.store import open_store
from app.arena.live.conftest import MakeLeague
from fakes.arena import League, Model
from sizes import sample


class Killed(BaseException):
    """The process ends here."""


class FaultyStore:
    """A store whose process is killed before or after one of its commits."""

    def __init__(self, store: Any, *, at: int | None, after: bool) -> None:
        self._store = store
        self._at = at
        self._after = after
        self.commits = 0

    @contextmanager
    def write(self) -> Iterator[Any]:
        """Begin a session; kill the process before its commit, or after it."""
        with self._store.write() as session:
            yield session
            self.commits += 1
            if self.commits == self._at and not self._after:
                raise Killed
        if self.commits == self._at:
            raise Killed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def run(league: League, *, at: int | None = None, after: bool = False) -> int:
    """Play a round with one kill; return the number of commits."""
    league.model = Model()
    league.audit = Model(name="auditor")
    league.start()
    service = league.service
    faulty: Any = FaultyStore(service.store, at=at, after=after)
    league.service = replace(service, store=faulty)
    try:
        league.work()
    except Killed:
        pass
    finally:
        league.service = service
    assert league.work() == []  # another worker
    commits: int = faulty.commits
    return commits


RULES: dict[str, Any] = {"honeypot_probability": 0.6, "audit_probability": 0.5, "bots": 8}


def test_a_kill_at_any_commit_of_a_round_changes_nothing(
    make_league: MakeLeague, tmp_path: Path
) -> None:
    """A round continues where it was, exactly once: the same ledger, byte for byte."""
    first = make_league(**RULES)
    first.service.store.close()
    before = (tmp_path / "0" / "agon.db").read_bytes()

    def played(name: str, *, at: int | None = None, after: bool = False) -> tuple[League, int]:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "agon.db").write_bytes(before)
        numbers = count(1000)
        store = open_store(f"sqlite:///{folder}/agon.db")
        service = replace(
            first.service, store=store, new_id=lambda: f"id{next(numbers)}",
            replicas=ReplicaCache(),
        )  # fmt: skip
        league = replace(first, service=service)
        return league, run(league, at=at, after=after)

    undisturbed, commits = played("undisturbed")
    assert commits >= 30
    expected = undisturbed.ledger()
    assert {match["kind"] for match in undisturbed.rows("matches")} == {"rated", "honeypot"}
    undisturbed.service.store.close()
    for at in sample(range(1, commits + 1), at_least=10):
        after = at % 2 == 0  # each commit once; before and after it in turn
        league, _ = played(f"{at}", at=at, after=after)
        assert league.ledger() == expected, (at, after)
        league.service.store.close()
        league.service.replicas.close()
