"""Kill a worker before and after each of its commits: the ledger ends as without kills."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import count, product
from pathlib import Path
from typing import Any

from agon.app.replay.replica_cache import ReplicaCache
from agon.store import open_store
from app.arena.live.conftest import MakeLeague
from fakes.arena import League, Model
from sizes import ALL


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
                os.kill(os.getpid(), signal.SIGKILL)
        if self.commits == self._at:
            os.kill(os.getpid(), signal.SIGKILL)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def play(league: League, *, at: int | None = None, after: bool = False) -> int:
    """Play what is due of a round; return the number of commits."""
    service = league.service
    faulty: Any = FaultyStore(service.store, at=at, after=after)
    league.service = replace(service, store=faulty)
    assert league.work() == []
    league.service = service
    commits: int = faulty.commits
    return commits


def killed(work: Callable[[], object]) -> None:
    """Run work in a process of its own, which must be killed by it."""
    process = os.fork()
    if process == 0:
        try:
            work()
        finally:
            os._exit(1)
    _, status = os.waitpid(process, 0)
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGKILL


RULES: dict[str, Any] = {"honeypot_probability": 0.6, "audit_probability": 0.5, "bots": 8}


def test_a_kill_at_any_commit_of_a_round_changes_nothing(
    make_league: MakeLeague, tmp_path: Path
) -> None:
    """A round continues where it was, exactly once: the same ledger, byte for byte."""
    first = make_league(**RULES)
    first.service.store.close()
    before = (tmp_path / "0" / "agon.db").read_bytes()

    @contextmanager
    def opened(folder: Path, *, ids: int) -> Iterator[League]:
        """Open the league in a folder, as a process does that begins."""
        numbers = count(ids)
        service = replace(
            first.service, store=open_store(f"sqlite:///{folder}/agon.db"),
            new_id=lambda: f"id{next(numbers)}", replicas=ReplicaCache(),
        )  # fmt: skip
        yield replace(first, service=service, model=Model(), audit=Model(name="auditor"))
        service.store.close()
        service.replicas.close()

    def begin(name: str) -> Path:
        """Begin a round in a copy of the league."""
        folder = tmp_path / name
        folder.mkdir()
        (folder / "agon.db").write_bytes(before)
        with opened(folder, ids=1000) as league:
            league.start()
        return folder

    def play_until_killed(folder: Path, *, at: int, after: bool) -> None:
        with opened(folder, ids=2000) as league:
            play(league, at=at, after=after)

    with opened(begin("undisturbed"), ids=2000) as undisturbed:
        commits = play(undisturbed)
        assert commits >= 30
        expected = undisturbed.ledger()
        assert {match["kind"] for match in undisturbed.rows("matches")} == {"rated", "honeypot"}
    for at, after in product(range(1, commits + 1), [False, True]):
        if not ALL and (at % 8 != 1 or after == (at // 8) % 2):
            continue  # every eighth commit once, before and after it in turn
        folder = begin(f"{at} {after}")
        killed(partial(play_until_killed, folder, at=at, after=after))
        with opened(folder, ids=3000) as league:
            play(league)
            assert league.ledger() == expected, (at, after)
