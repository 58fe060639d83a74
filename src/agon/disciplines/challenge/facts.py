"""Read the formulas' inputs from the tables: dense arrays in a fixed order.

Submissions, validators and competitions are numbered in id order (`agon.kernel.boards.id_order`),
so that results are independent of the order of rows and the type of ids in a file.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from agon.disciplines.challenge.formulas import pass_rate
from agon.disciplines.challenge.records import COMPETITIONS, MAIN
from agon.kernel.arrays import FloatArray, IntArray
from agon.kernel.boards import id_order
from agon.kernel.findings import RecordRefs
from agon.records import Records
from agon.records.raw import literal

Numbers = npt.NDArray[np.int32]

ALWAYS = -(2**62)
"""The epoch of a stake without an epoch: the beginning."""

NEVER = 2**62
"""The epoch of what has not happened: the end."""


@dataclass(frozen=True)
class Submissions:
    """The submissions, in id order.

    Attributes:
        ids: as text.
        miners: uid of the miner.
        turns: position by time of submission, then id; 0 is the earliest.
        competitions: number of the competition.
        contents: number of the content, equal for equal ``content_hash``; -1 for none.
        hotkeys: number of the miner's hotkey in ``hotkey_names``; -1 for none, and for all where
            there are no registrations.
        hotkey_names: as text.
    """

    ids: list[str]
    miners: IntArray
    turns: IntArray
    competitions: IntArray
    contents: IntArray
    hotkeys: IntArray
    hotkey_names: list[str]

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def owners(self) -> IntArray:
        """Return a number of each submission's miner: its hotkey where it has one, else its uid.

        Hotkeys have negative numbers, so that none is a uid.
        """
        return np.where(self.hotkeys < 0, self.miners, -1 - self.hotkeys)

    def owner_name(self, owner: int) -> str:
        """Return the hotkey or the uid of a number of :attr:`owners`, as text."""
        return str(owner) if owner >= 0 else self.hotkey_names[-1 - owner]

    @cached_property
    def number(self) -> Mapping[str, int]:
        """Return the number of each id."""
        return {name: index for index, name in enumerate(self.ids)}


@dataclass(frozen=True)
class Competition:
    """A competition: its part of all emission, and the rules it sets for itself."""

    id: str
    emission_share: float
    overrides: Mapping[str, Any]


@dataclass(frozen=True)
class Evaluations:
    """The evaluations by epoch; within an epoch, a later one replaces an earlier one.

    Attributes:
        epochs: rising.
        submissions, validators: their numbers.
        scores: 0 … 1.
    """

    epochs: IntArray
    submissions: Numbers
    validators: Numbers
    scores: FloatArray


@dataclass(frozen=True)
class Stakes:
    """The stakes by epoch (rising): from that epoch on the validator has that stake."""

    epochs: IntArray
    validators: Numbers
    stakes: FloatArray


@dataclass(frozen=True)
class Seats:
    """The changes of seats by epoch (rising): from that epoch on the hotkey holds the uid.

    Attributes:
        epochs: rising.
        hotkeys: number in :attr:`Submissions.hotkey_names`; others' hotkeys are left out.
        uids: the uid; -1 where the hotkey loses its seat.
    """

    epochs: IntArray
    hotkeys: IntArray
    uids: IntArray


@dataclass(frozen=True)
class Facts:
    """All that weights are computed from."""

    submissions: Submissions
    validators: list[str]
    competitions: tuple[Competition, ...]
    evaluations: Evaluations
    stakes: Stakes
    seats: Seats

    def last_hotkeys(self) -> dict[int, str]:
        """Return by uid the hotkey that held it last; only of those that submitted something."""
        held = zip(self.seats.uids.tolist(), self.seats.hotkeys.tolist(), strict=True)
        names = self.submissions.hotkey_names
        return {uid: names[hotkey] for uid, hotkey in held if uid >= 0}

    @cached_property
    def epochs(self) -> IntArray:
        """Return the epochs in which something was recorded, rising."""
        timed = np.union1d(self.stakes.epochs[self.stakes.epochs != ALWAYS], self.seats.epochs)
        rising = self.evaluations.epochs
        ends = np.flatnonzero(rising[1:] != rising[:-1])
        return np.union1d(np.concatenate([rising[:1], rising[ends + 1]]), timed)

    @property
    def last_epoch(self) -> int:
        """Return the last epoch in the records; 0 when they name none."""
        return int(self.epochs[-1]) if len(self.epochs) else 0


def read_facts(records: Records) -> Facts:
    """Read the facts; rows whose submission or validator is not (yet) there do not count."""
    competitions = _competitions(records)
    submissions, of_submission = _submissions(
        records, [competition.id for competition in competitions]
    )
    validators, of_validator = _validators(records)
    return Facts(
        submissions,
        validators,
        competitions,
        _evaluations(records, of_submission, of_validator),
        _stakes(records, of_validator),
        _seats(records, submissions),
    )


def _competitions(records: Records) -> tuple[Competition, ...]:
    """Return the competitions; if none is recorded, one with all emission."""
    table = records.sql("SELECT * EXCLUDE (id), id::VARCHAR AS id FROM competitions")
    if not table.num_rows:
        return (Competition(MAIN, 1.0, {}),)
    settable = {column.name for column in COMPETITIONS.columns} - {"id", "emission_share"}
    rows = table.take(np.argsort(id_order(table["id"]))).to_pylist()
    return tuple(
        Competition(
            row["id"],
            row["emission_share"],
            {name: row[name] for name in sorted(settable) if row[name] is not None},
        )
        for row in rows
    )


def _submissions(records: Records, competitions: list[str]) -> tuple[Submissions, Numbers]:
    """Read the submissions; the second value gives each row of the table its number."""
    table = records.sql(
        "SELECT _row, id::VARCHAR AS id, miner_uid, epoch_us(submitted_at) AS submitted_us, "
        f"coalesce(competition::VARCHAR, '{MAIN}') AS competition, "
        "nullif(content_hash, '') AS content_hash, nullif(miner_hotkey, '') AS hotkey "
        "FROM submissions"
    )
    table, numbers = _in_id_order(table)
    contents = table["content_hash"].combine_chunks().dictionary_encode().indices
    if not records.count("registrations"):
        table = table.set_column(
            table.column_names.index("hotkey"), "hotkey", pa.nulls(len(table), pa.string())
        )
    hotkeys = table["hotkey"].combine_chunks().cast(pa.string()).dictionary_encode()
    ids = table["id"].to_pylist()
    submitted = table["submitted_us"].to_numpy()
    turns = np.empty(len(ids), dtype=np.int64)
    turns[np.lexsort([np.arange(len(ids)), submitted])] = np.arange(len(ids))
    place = {name: index for index, name in enumerate(competitions)}
    submissions = Submissions(
        ids,
        table["miner_uid"].to_numpy(),
        turns,
        np.array([place[name] for name in table["competition"].to_pylist()], dtype=np.int64),
        contents.fill_null(-1).to_numpy().astype(np.int64),
        hotkeys.indices.fill_null(-1).to_numpy().astype(np.int64),
        hotkeys.dictionary.to_pylist(),
    )
    return submissions, numbers


def _validators(records: Records) -> tuple[list[str], Numbers]:
    table = records.sql(
        "SELECT min(_row) AS _row, id::VARCHAR AS id FROM validators GROUP BY id ORDER BY _row"
    )
    table, numbers = _in_id_order(table)
    return table["id"].to_pylist(), numbers


def _in_id_order(table: pa.Table) -> tuple[pa.Table, Numbers]:
    """Return a table in id order, and a map of ``_row`` to the index in that order."""
    places = id_order(table["id"])
    rows = table["_row"].to_numpy()
    numbers = np.zeros(int(rows.max(initial=0)) + 1, dtype=np.int32)
    numbers[rows] = places
    return table.take(np.argsort(places)), numbers


_REPLACING = "coalesce(e.epoch, 0), e.epoch IS NOT NULL, e.evaluated_at NULLS FIRST, e._row"
"""The order in which evaluations of one pair replace each other: by epoch, time, row in file.
One without a time, or whose epoch is only the default, gives way to one that has it."""

_CODED = (
    "FROM {} e JOIN submissions s ON e.submission_id = s.id "
    "JOIN (SELECT id, min(_row) AS _row FROM validators GROUP BY id) v ON e.validator_id = v.id"
)


def _evaluations(records: Records, of_submission: Numbers, of_validator: Numbers) -> Evaluations:
    """Read evaluations, those computed from task results first, with epoch 0."""
    parts = []
    if records.count("task_results"):
        tasks = records.sql(
            "SELECT s._row::UINTEGER AS submission, v._row::UINTEGER AS validator, "
            "0::BIGINT AS epoch, count_if(e.passed)::BIGINT AS passed, count(*) AS total "
            f"{_CODED.format('task_results')} GROUP BY s._row, v._row"
        )
        rates = pass_rate(passed=tasks["passed"].to_numpy(), total=tasks["total"].to_numpy())
        parts.append(tasks.append_column("score", pa.array(rates)))
    parts.append(
        records.sql(
            "SELECT s._row::UINTEGER AS submission, v._row::UINTEGER AS validator, "
            f"coalesce(e.epoch, 0) AS epoch, e.score {_CODED.format('evaluations')} "
            f"ORDER BY {_file_order(records)}"
        )
    )
    columns = [
        np.concatenate([part[name].to_numpy() for part in parts])
        if len(parts) > 1
        else parts[0][name].to_numpy()
        for name in ("epoch", "submission", "validator", "score")
    ]
    epochs, submissions, validators, scores = columns
    if len(epochs) and (epochs[1:] < epochs[:-1]).any():
        order = np.argsort(epochs, kind="stable")
        epochs, submissions, validators, scores = (column[order] for column in columns)
    return Evaluations(epochs, of_submission[submissions], of_validator[validators], scores)


def _file_order(records: Records) -> str:
    """Order evaluations as they replace each other; file order will often do."""
    counts = records.sql(
        "SELECT count(evaluated_at) AS timed, count(epoch) AS given, count(*) AS n FROM evaluations"
    ).to_pylist()[0]
    if counts["timed"] == 0 and counts["given"] in {0, counts["n"]}:
        return "e._row"
    return _REPLACING


def _stakes(records: Records, of_validator: Numbers) -> Stakes:
    table = records.sql(
        f"SELECT first_row, coalesce(epoch, {ALWAYS}) AS epoch, stake FROM (SELECT *, "
        "min(_row) OVER (PARTITION BY id) AS first_row FROM validators) ORDER BY epoch, _row"
    )
    return Stakes(
        table["epoch"].to_numpy(),
        of_validator[table["first_row"].to_numpy()],
        table["stake"].to_numpy(),
    )


def _seats(records: Records, submissions: Submissions) -> Seats:
    """Read the changes of seats of the hotkeys that submitted something.

    A hotkey loses its seat when its uid gets another one, or none; that comes before what it gains
    in the same epoch.
    """
    number = {name: index for index, name in enumerate(submissions.hotkey_names)}
    holders: dict[int, int | None] = {}
    changes: list[tuple[int, int, int, int]] = []
    rows = records.sql(
        "SELECT uid, nullif(hotkey, '') AS hotkey, coalesce(from_epoch, 0) AS epoch "
        "FROM registrations ORDER BY epoch, _row"
    )
    for row in rows.to_pylist():
        uid, epoch, hotkey = row["uid"], row["epoch"], number.get(row["hotkey"])
        before = holders.get(uid)
        if before is not None and before != hotkey:
            changes.append((epoch, 0, before, -1))
        if hotkey is not None and before != hotkey:
            changes.append((epoch, 1, hotkey, uid))
        holders[uid] = hotkey
    columns = np.array(sorted(changes), dtype=np.int64).reshape(-1, 4)
    return Seats(columns[:, 0], columns[:, 2], columns[:, 3])


def mean_rewards(records: Records, submission: str) -> tuple[dict[str, float], int]:
    """Return a submission's mean of each reward, and the number of its task results.

    A result without a reward counts as 0 of it.
    """
    wanted = f"submission_id::VARCHAR = {literal(submission)}"
    sums = records.sql(
        "SELECT reward_key::VARCHAR AS name, sum(reward::DOUBLE ORDER BY reward::DOUBLE) AS total "
        f"FROM task_rewards WHERE {wanted} GROUP BY reward_key ORDER BY name"
    ).to_pylist()
    (row,) = records.sql(f"SELECT count(*) AS n FROM task_results WHERE {wanted}").to_pylist()
    return {one["name"]: one["total"] / row["n"] for one in sums if row["n"]}, row["n"]


def rows_behind(
    records: Records, *, submission: str, epoch: int
) -> dict[str, tuple[RecordRefs, ...]]:
    """Return the rows of each validator's latest evaluation of a submission at an epoch.

    A table of evaluations has no ids, so a row is named by its number: ``row 17``.

    Args:
        records: the records.
        submission: its id.
        epoch: the latest epoch that counts.
    """
    wanted = f"submission_id::VARCHAR = {literal(submission)}"
    later: dict[str, tuple[RecordRefs, ...]] = {}
    tasks = records.sql(
        "SELECT validator_id::VARCHAR AS validator, list(task_id::VARCHAR ORDER BY _row) AS tasks "
        f"FROM task_results WHERE {wanted} AND {epoch} >= 0 GROUP BY validator_id"
    )
    for row in tasks.to_pylist():
        later[row["validator"]] = (RecordRefs.of("task_results", row["tasks"]),)
    evaluations = records.sql(
        "SELECT validator_id::VARCHAR AS validator, last(e._row ORDER BY "
        f"{_REPLACING}) AS place, max(coalesce(e.epoch, 0)) AS latest FROM evaluations e "
        f"WHERE {wanted} AND coalesce(e.epoch, 0) <= {epoch} GROUP BY validator_id"
    )
    for row in evaluations.to_pylist():
        if row["validator"] not in later or row["latest"] >= 0:
            later[row["validator"]] = (RecordRefs.of("evaluations", [f"row {row['place']}"]),)
    return later
