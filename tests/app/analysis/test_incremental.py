"""Scoring from stored counts equals a full run, whatever happened to the partitions."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.app.analysis import incremental
from agon.app.analysis.incremental import score_incrementally
from agon.app.analysis.score import Result, score
from agon.disciplines.community.added_facts import AddedFacts
from agon.disciplines.community.records import SCHEMA
from agon.errors import AgonError, Conflict
from agon.records import added, partitions, stored_counts
from disciplines.community.communities import communities
from disciplines.community.test_oracle import ALL_ON, EASY
from engines.drawn import Database, arrow_tables
from sizes import size

Tables = Mapping[str, pa.Table]


@dataclass(frozen=True)
class Grown:
    """A community, and the rows that were added to it by two files of each table."""

    base: Tables
    added: tuple[Tables, Tables]


@st.composite
def grown(draw: st.DrawFn) -> Grown:
    """Draw a valid community in three partitions: no row refers to one of a later partition."""
    tables = arrow_tables(Database("community", draw(communities()), None, encoded=False))
    part_of: dict[str, dict[Any, int]] = {}
    parts: tuple[dict[str, pa.Table], ...] = ({}, {}, {})
    share, in_order = draw(st.integers(1, 6)), draw(st.booleans())
    for table in SCHEMA:
        content = tables.get(table.name)
        if content is None:
            continue
        rows = content.to_pylist()
        if not in_order:  # ids then ascend in no partition
            rows.reverse()
            content = content.take(pa.array(range(len(rows) - 1, -1, -1), pa.int64()))
        chosen = [
            max(
                [0 if draw(st.integers(0, 6)) > share else draw(st.integers(1, 2))]
                + [part_of.get(key.other_table, {}).get(row.get(key.column), 0)
                   for key in table.foreign_keys]
            )
            for row in rows
        ]  # fmt: skip
        part_of[table.name] = {row.get("id"): at for row, at in zip(rows, chosen, strict=True)}
        for at, part in enumerate(parts):
            part[table.name] = content.filter(pa.array([one == at for one in chosen], pa.bool_()))
    base, *later = parts
    first, second = ({name: rows for name, rows in part.items() if len(rows)} for part in later)
    return Grown(base, (first, second))


def write(folder: Path, tables: Tables, part: str) -> None:
    """Write a file of each table."""
    for name, rows in tables.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        pq.write_table(rows, folder / name / f"{part}.parquet")


def outcome(run: Callable[[], Result]) -> Any:
    """Return the hashes and rows of all boards and an explanation, or the error."""
    try:
        result = run()
    except AgonError as error:
        return str(error)
    with result.records:
        boards = [result.board(name) for name in result.discipline.boards]
        explained = [result.explain(row["id"]) for row in boards[0].rows(top=1)]
        return [(board.sha256, board.rows(), board.unscored) for board in boards], explained


def same(folder: Path, cache: Path, rules: Mapping[str, Any]) -> None:
    """Compare a run from stored counts with a full one."""
    expected = outcome(lambda: score("community", folder, overrides=rules))
    assert outcome(lambda: score_incrementally("community", folder, cache, overrides=rules)) == (
        expected
    )


RULES = st.fixed_dictionaries(
    {},
    optional={
        **{name: st.just(value) for name, value in ALL_ON.items()},
        "self_feedback": st.just("ignore"),
        "repeated_feedback": st.just("all"),
        "feedback_targets": st.just("prompts"),
        "wrong_answer_unit": st.just("responses"),
        "likes_per_creator": st.just(1),
        "min_collaborator_prompts": st.just(1),
        "owner_contribution": st.sampled_from(["always", "never"]),
        "sota_min_prompts": st.just(1),
        "sota_top": st.integers(1, 3),
        "sota_list": st.just("dynamic"),
    },
)


@settings(max_examples=size(30, at_least=3, dear=True), deadline=None)
@given(community=grown(), rules=RULES, then=st.integers(0, 9))
def test_boards_equal_those_of_a_full_run(
    community: Grown, rules: dict[str, Any], then: int
) -> None:
    """After files were added, with late times and repeats; with wrong rows, changed or removed."""
    rules = {**EASY, **rules}
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(added, "_MAX_SHARE", 100.0)
        folder, cache = Path(place) / "records", Path(place) / "cache"
        write(folder, community.base, "1")
        score_incrementally("community", folder, cache, overrides=rules).records.close()
        for part, tables in enumerate(community.added, start=2):
            write(folder, tables, str(part))
            same(folder, cache, rules)
        last = list(community.base)[-1]
        if then < 3:
            write(folder, _wrong_row(community, then), "4")
        elif then < 5:
            write(folder, {last: community.base[last].slice(1)}, "1")
        elif then < 7:
            (folder / last / "1.parquet").unlink()
        else:
            return
        same(folder, cache, rules)


def _wrong_row(community: Grown, which: int) -> Tables:
    """Return a partition with a repeated id, an unknown reference or an invalid value."""
    users, rows = community.base["users"], community.base.get("quick_feedbacks")
    if which == 0:
        return {"users": users.slice(0, 1)}
    if rows is None or not len(rows):
        return {}
    column, value = [("opinion", "meh"), ("user_id", 10**15)][which - 1]
    row = rows.slice(0, 1)
    at = row.schema.get_field_index(column)
    return {"quick_feedbacks": row.set_column(at, column, pa.array([value]).cast(row[column].type))}


def feedback(*rows: tuple[int, int, str, int]) -> pa.Table:
    """Return feedback: user, prompt, opinion and second."""
    user, prompt, opinion, seconds = zip(*rows, strict=True)
    return pa.table(
        {
            "user_id": pa.array(user, pa.int64()),
            "prompt_id": pa.array(prompt, pa.int64()),
            "opinion": opinion,
            "created_at": pa.array([second * 1_000_000 for second in seconds], pa.timestamp("us")),
        }
    )


BASE: Tables = {
    "users": pa.table({"id": [1, 2, 3]}),
    "prompts": pa.table({"id": [1, 2], "uploader_id": [1, 2]}),
    "quick_feedbacks": feedback((1, 2, "positive", 5), (2, 1, "negative", 5)),
}
LATER: Tables = {"quick_feedbacks": feedback((1, 2, "negative", 4), (2, 1, "positive", 5))}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a small community whose counts are stored, and which grew."""
    monkeypatch.setattr(added, "_MAX_SHARE", 100.0)
    write(tmp_path / "records", BASE, "1")
    run(tmp_path / "records")
    write(tmp_path / "records", LATER, "2")
    return tmp_path / "records"


def run(folder: Path, **rules: Any) -> Result:
    """Score from counts next to the folder."""
    return score_incrementally("community", folder, folder.parent / "cache", overrides=rules)


def from_counts(folder: Path, **rules: Any) -> bool:
    """Return whether a run continues from stored counts; its board is that of a full run."""
    result = run(folder, **rules)
    expected = score("community", folder, overrides=rules)
    assert result.board("contributor").sha256 == expected.board("contributor").sha256
    assert result.board().sha256 == expected.board().sha256
    return isinstance(result.scored.facts, AddedFacts)  # type: ignore[attr-defined] # of a community


def stored(folder: Path) -> list[Path]:
    """Return the stored counts."""
    return sorted((folder.parent / "cache").iterdir())


def test_only_added_rows_are_counted(folder: Path) -> None:
    """A late opinion of an earlier time replaces nothing, one of an equal time does."""
    assert from_counts(folder)
    assert from_counts(folder)
    assert len(stored(folder)) == 1


def test_many_added_rows_are_counted_with_all_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts are then stored again, and what is added next is little again."""
    monkeypatch.setattr(added, "_MAX_SHARE", 0.1)
    assert not from_counts(folder)
    write(folder, {"users": pa.table({"id": pa.array([], pa.int64())})}, "2")
    assert from_counts(folder)


def test_counts_of_another_version_or_other_rules_are_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they were counted by may differ."""
    assert not from_counts(folder, self_feedback="ignore")
    assert from_counts(folder, self_feedback="ignore")
    monkeypatch.setattr(incremental, "__version__", "0.0")
    assert not from_counts(folder)


def test_a_registration_of_an_earlier_prompt_is_counted(folder: Path) -> None:
    """It gives a creator to a prompt whose feedback is counted already."""
    columns = {"uploader_id": [None, 2], "hash_cid_registration": ["c", None],
               "hash_sha256_registration": ["x", None]}  # fmt: skip
    write(folder, {"prompts": pa.table({"id": [1, 2], **columns})}, "1")
    run(folder)
    row = {"cid": ["c"], "sha256": ["x"], "uploader_id": [3]}
    write(folder, {"hash_registrations": pa.table(row)}, "2")
    assert not from_counts(folder)
    assert from_counts(folder)


def test_ids_that_become_text_are_read_again(folder: Path) -> None:
    """One of them makes all ids of its family text."""
    flags = pa.table({"user_id": ["1", "2"], "reason": ["spam", "spam"]})
    write(folder, {"org_to_people": pa.table({"user_id": [1], "org_id": ["7"]})}, "1")
    write(folder, {"flags": flags}, "1")
    run(folder)
    write(folder, {"org_to_people": pa.table({"user_id": [2], "org_id": ["a"]})}, "2")
    assert not from_counts(folder)
    write(folder, {"flags": flags.slice(1)}, "2")
    assert from_counts(folder)


def test_damaged_and_unfinished_counts_are_not_used(folder: Path) -> None:
    """A killed run leaves a folder of another name; the next one that stores counts removes it."""
    (counts,) = stored(folder)
    left = counts.with_name("unfinished-0123456789abcdef")
    shutil.copytree(counts, left)
    opinions = counts / "opinions"
    content = opinions.read_bytes()
    opinions.write_bytes(content[:-1])
    assert not from_counts(folder)
    assert not left.exists()
    (renewed,) = stored(folder)
    (renewed / "counts.json").write_bytes(b"{")
    assert not from_counts(folder)


def test_counts_are_not_stored_of_files_that_changed_meanwhile(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They would belong to other bytes than those hashed."""
    shutil.rmtree(folder.parent / "cache")
    files = partitions.partitions_of

    def hash_then_write(schema: Any, path: Path, **options: Any) -> Any:
        hashed = files(schema, path, **options)
        write(path, {"users": pa.table({"id": [1, 2, 3, 4]})}, "1")
        return hashed

    monkeypatch.setattr(incremental, "partitions_of", hash_then_write)
    assert len(run(folder).board()) == 4
    assert not stored(folder)


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the files that are hashed from now on."""
    names: list[str] = []
    digest = hashlib.file_digest

    def note(opened: Any, algorithm: str) -> Any:
        names.append("/".join(Path(opened.name).parts[-2:]))
        return digest(opened, algorithm)

    monkeypatch.setattr(hashlib, "file_digest", note)
    return names


def test_files_that_did_not_change_are_not_hashed_again(
    folder: Path, hashed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time of change of status shows a change of bytes that keeps size and time of change."""
    monkeypatch.setattr(partitions, "_SETTLED", -(10**18))
    shutil.rmtree(folder.parent / "cache")
    (folder / "quick_feedbacks" / "2.parquet").rename(folder / "later")
    run(folder)
    (folder / "later").rename(folder / "quick_feedbacks" / "2.parquet")
    hashed.clear()
    assert from_counts(folder)
    assert hashed == ["quick_feedbacks/2.parquet"]
    users = folder / "users" / "1.parquet"
    status, content = users.stat(), users.read_bytes()
    users.write_bytes(content)
    os.utime(users, ns=(status.st_atime_ns, status.st_mtime_ns))
    hashed.clear()
    assert from_counts(folder)
    assert sorted(hashed) == ["quick_feedbacks/2.parquet", "users/1.parquet"]


def test_files_that_had_just_changed_are_hashed_when_counting_ends(
    folder: Path, hashed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each later run would hash them again."""
    shutil.rmtree(folder.parent / "cache")
    (folder / "quick_feedbacks" / "2.parquet").rename(folder / "later")
    files = partitions.partitions_of

    def hash_then_wait(schema: Any, path: Path, **options: Any) -> Any:
        unsettled = files(schema, path, **options)
        monkeypatch.setattr(partitions, "_SETTLED", -(10**18))
        return unsettled

    with monkeypatch.context() as during:
        during.setattr(incremental, "partitions_of", hash_then_wait)
        run(folder)
    (folder / "later").rename(folder / "quick_feedbacks" / "2.parquet")
    hashed.clear()
    assert from_counts(folder)
    assert hashed == ["quick_feedbacks/2.parquet"]


def test_files_that_changed_a_moment_ago_are_hashed_again(folder: Path, hashed: list[str]) -> None:
    """The next change may have the same time."""
    assert from_counts(folder)
    assert "users/1.parquet" in hashed


def test_a_reference_to_a_number_between_ids_is_found(folder: Path) -> None:
    """That ids are whole numbers from one to another does not make each number an id."""
    write(folder, {"users": pa.table({"id": [1, 2, 4]})}, "1")
    run(folder)
    write(folder, {"quick_feedbacks": feedback((3, 1, "positive", 9))}, "3")
    same(folder, folder.parent / "cache", {})


def test_a_failed_write_leaves_the_earlier_counts(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are removed when others are complete."""
    (before,) = stored(folder)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(stored_counts, "_flush", fail)
    write(folder, {"users": pa.table({"id": [1, 2]})}, "1")
    write(folder, {"users": pa.table({"id": [3]})}, "2")
    with pytest.raises(AgonError, match="No space left"):
        run(folder)
    assert before in stored(folder)


def test_what_is_not_counted_is_refused(folder: Path, tmp_path: Path) -> None:
    """Without the option it is scored."""
    with pytest.raises(Conflict, match="daily_feedbacks"):
        run(folder, daily_feedbacks=3)
    with pytest.raises(Conflict, match="challenge"):
        score_incrementally("challenge", folder, tmp_path / "cache")
    (tmp_path / "csv").mkdir()
    (tmp_path / "csv" / "users.csv").write_text("id\n1\n")
    with pytest.raises(Conflict, match=r"users\.csv"):
        score_incrementally("community", tmp_path / "csv", tmp_path / "cache")
