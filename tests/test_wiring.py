"""Where ports meet adapters: isolation_flags that step down, stores and keys that open."""

from datetime import UTC, timedelta
from pathlib import Path

import pytest

from agon import wiring
from agon.app.arena.judging.port import ModelVote
from agon.app.sandbox import Mode, Sandbox, SandboxEscape
from agon.disciplines.arena.rounds.faults import Fault
from agon.errors import Conflict, NotFound, Unavailable
from agon.settings import Settings, load
from fakes.models import KEY, serve_model


def _opening(monkeypatch: pytest.MonkeyPatch, error: Exception) -> list[str]:
    """Make the best isolation fail; return the modes that are tried."""
    tried: list[str] = []

    def opened(mode: Mode = "bwrap", *, workers: int | None = None) -> Sandbox:  # noqa: ARG001 (the signature)
        tried.append(mode)
        raise error

    monkeypatch.setattr(wiring, "sandbox", opened)
    return tried


def test_a_missing_wall_is_stepped_down_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without namespaces can still show the example."""
    tried = _opening(monkeypatch, Unavailable("bwrap is missing"))
    with pytest.raises(Unavailable, match="missing"):
        wiring.any_sandbox()
    assert tried == ["bwrap", "degraded"]


def test_a_wall_that_does_not_hold_is_not_stepped_down_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where a hostile program escapes the best isolation, the weaker one is no remedy."""
    tried = _opening(monkeypatch, SandboxEscape("the sandbox does not hold"))
    with pytest.raises(SandboxEscape):
        wiring.any_sandbox()
    assert tried == ["bwrap"]


def _settings(folder: Path, **more: object) -> Settings:
    return load({"database": f"sqlite:///{folder}/agon.db", **more}, environ={}, cwd=folder)


def test_a_service_opens_with_keys_that_stay(tmp_path: Path) -> None:
    """Heads signed before a restart are checked with the same key after it."""
    first = wiring.open_service(
        _settings(tmp_path, lease_seconds=40, snapshots_kept=7, ended_jobs_days=2)
    )
    first.store.close()
    second = wiring.open_service(_settings(tmp_path), create=False)
    second.store.close()
    assert first.signer.public_key == second.signer.public_key
    assert first.network_key == second.network_key
    assert (first.lease_span.total_seconds(), first.snapshots_kept) == (40, 7)
    assert first.jobs_kept == timedelta(days=2)
    assert first.clock().tzinfo is UTC
    assert {file.stat().st_mode & 0o777 for file in tmp_path.glob("*.key")} == {0o600}


def test_without_leave_no_key_is_made(tmp_path: Path) -> None:
    """A process that could read nothing old with a new key says so."""
    with pytest.raises(NotFound, match="no such key"):
        wiring.open_service(_settings(tmp_path), create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    """Whoever reads it can sign as the instance."""
    wiring.open_service(_settings(tmp_path)).store.close()
    (tmp_path / "agon-signing.key").chmod(0o644)
    with pytest.raises(Conflict, match="chmod 600"):
        wiring.open_service(_settings(tmp_path))


def test_tasks_are_the_folders_that_hold_one(tmp_path: Path) -> None:
    """Other files there are no tasks."""
    for name in ("b", "a", ".hidden", "empty"):
        (tmp_path / name).mkdir()
        if name != "empty":
            (tmp_path / name / "task.toml").touch()
    assert wiring.task_names(str(tmp_path)) == ("a", "b")
    assert wiring.task_names("") == wiring.task_names(str(tmp_path / "none")) == ()


def test_ids_differ_and_sort_by_time() -> None:
    """Lists of them are read from the oldest on."""
    ids = [wiring.sortable_id() for _ in range(100)]
    assert len(set(ids)) == 100
    assert [one[:12] for one in ids] == sorted(one[:12] for one in ids)
    assert {len(one) for one in ids} == {32}


def test_the_judge_of_the_settings_is_limited_and_measured_in_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker builds it from [arena.judge]; the key comes from the environment alone."""
    monkeypatch.setenv("AGON_ARENA_JUDGE_KEY", KEY)
    with serve_model() as server:
        settings = Settings(
            database=f"sqlite:///{tmp_path}/agon.db",
            arena_judge_provider="anthropic",
            arena_judge_url=server.url,
            arena_judge_model="m-1",
            arena_judge_calls_per_day=3,
            arena_judge_null_share=0,
        )
        store = wiring.open_store(settings)
        judge = wiring.model_judge(settings, "judge", store)
        assert judge is not None
        assert wiring.model_judge(settings, "audit", store) is None
        vote = judge.compare(prompt="?", a="x", b="y", seconds=60)
        assert isinstance(vote, ModelVote)
        assert vote.tokens == 200
        stopped = judge.compare(prompt="?", a="x", b="y", seconds=60)
        assert isinstance(stopped, Fault)
        assert stopped.code == "ours-budget"
        with store.read() as session:
            usage = session.judging.usage("judge")
            assert (usage.calls, usage.tokens) == (3, 300)
            assert [count.measure for count in session.judging.counts()] == ["first-shown", "flip"]
        store.close()
    assert {headers["x-api-key"] for _, headers, _ in server.requests} == {KEY}
    assert KEY not in repr(judge) + repr(settings)
