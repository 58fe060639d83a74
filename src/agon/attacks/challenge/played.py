"""The records of a network after a season, and who stands where."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agon.attacks.challenge.season import Season
from agon.attacks.challenge.world import World
from agon.attacks.lab import AttackStanding
from agon.attacks.results import Effort
from agon.attacks.tables import append_rows
from agon.disciplines import ScoredRecords

_NO_IDS = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class PlayedSeason:
    """A season after its last epoch."""

    world: World
    season: Season

    @property
    def accounts(self) -> tuple[str, ...]:
        """The attacker's uids and validators."""
        validators = [str(validator["id"]) for validator in self.season.validators]
        return (*map(str, self.season.miners), *validators)

    @cached_property
    def honest(self) -> tuple[str, ...]:
        """The uids of honest miners, and the honest validators."""
        uids = np.unique(self.world.facts.submissions.miners).tolist()
        return (*map(str, uids), *self.world.facts.validators)

    @property
    def epochs(self) -> range:
        """The epochs in which the attacker could act."""
        return range(self.world.begin, self.season.end + 1)

    @property
    def effort(self) -> Effort:
        """What the attacker used."""
        accounts, actions, days = self.season.totals()
        stake = sum(validator["stake"] for validator in self.season.validators)
        return Effort(accounts, actions, stake, days)

    def actions_until(self, epoch: int) -> int:
        """Return the number of submissions and reports by the end of an epoch."""
        accounts = {"miner", "validator"}
        return sum(
            n for when, kind, n in self.season.actions if when <= epoch and kind not in accounts
        )

    def tables(self, epoch: int) -> Mapping[str, pa.Table]:
        """Return the records by the end of an epoch."""
        tables = dict(self.world.tables)
        is_known = pa.array(self.world.first_epochs <= epoch)
        known = pa.array(self.world.facts.submissions.ids, pa.string()).filter(is_known)
        for name, column in (
            ("submissions", "id"),
            ("evaluations", "submission_id"),
            ("task_results", "submission_id"),
        ):
            if name in tables:
                tables[name] = tables[name].filter(pc.is_in(tables[name][column], known))
        if "epoch" in tables.get("evaluations", pa.table({})).column_names:
            epochs = pc.fill_null(tables["evaluations"]["epoch"], 0)
            tables["evaluations"] = tables["evaluations"].filter(pc.less_equal(epochs, epoch))
        for name, rows in self._rows_of_attacker(epoch).items():
            tables[name] = append_rows(tables.get(name), rows)
        return tables

    def _rows_of_attacker(self, epoch: int) -> Mapping[str, pa.Table]:
        """Return the attacker's rows, and what honest validators report of the agents."""
        season, facts = self.season, self.world.facts
        rows = [row for row in season.submissions if row["epoch"] <= epoch]
        competition = facts.competitions[self.world.competition].id
        submissions = {
            "id": pa.array([row["id"] for row in rows], pa.string()),
            "miner_uid": pa.array([row["miner_uid"] for row in rows], pa.int64()),
            "submitted_at": pa.array(
                [self._time(row["epoch"], index) for index, row in enumerate(rows)],
                pa.timestamp("us"),
            ),
            "content_hash": pa.array([row["content_hash"] for row in rows], pa.string()),
            "source": pa.array([row["source"] for row in rows], pa.string()),
        }
        if "competitions" in self.world.tables:
            submissions["competition"] = pa.array([competition] * len(rows), pa.string())
        evaluations = self._evaluations_until(epoch)
        joined = [row for row in season.validators if row["epoch"] <= epoch]
        validators = pa.table(
            {
                "id": pa.array([row["id"] for row in joined], pa.string()),
                "stake": pa.array([row["stake"] for row in joined], pa.float64()),
                "epoch": pa.array([row["epoch"] for row in joined], pa.int64()),
            }
        )
        return {
            "submissions": pa.table(submissions),
            "evaluations": evaluations,
            "validators": validators,
        }

    def _evaluations_until(self, epoch: int) -> pa.Table:
        """Return what is reported of the attacker's agents, and what the attacker reports."""
        season, honest = self.season, self.world.facts.validators
        submissions, validators, scores, epochs = [_NO_IDS], [_NO_IDS], [np.zeros(0)], [_NO_IDS]
        for number, when, measured in season.measurements():
            if when <= epoch:
                submissions.append(np.full(len(measured), number))
                validators.append(np.arange(len(honest)))
                scores.append(measured)
                epochs.append(np.full(len(measured), when))
        for when, numbers, validator, values in season.evaluations:
            if when <= epoch:
                submissions.append(np.asarray(numbers))
                validators.append(np.full(len(numbers), len(honest) + validator))
                scores.append(values)
                epochs.append(np.full(len(numbers), when))
        names = [*honest, *(str(validator["id"]) for validator in season.validators)]
        return pa.table(
            {
                "submission_id": self._submission_ids.take(pa.array(np.concatenate(submissions))),
                "validator_id": pa.array(names).take(pa.array(np.concatenate(validators))),
                "score": np.concatenate(scores),
                "epoch": np.concatenate(epochs),
            }
        )

    @cached_property
    def _submission_ids(self) -> pa.Array:
        """The ids of all submissions by number."""
        own = [row["id"] for row in self.season.submissions]
        return pa.array([*self.world.facts.submissions.ids, *own], pa.string())

    def _time(self, epoch: int, place: int) -> object:
        """Return a time after that of all honest submissions up to an epoch."""
        ids = pa.array(self.world.facts.submissions.ids, pa.string())
        until = ids.filter(pa.array(self.world.first_epochs <= epoch))
        table = self.world.tables["submissions"]
        times = table["submitted_at"].filter(pc.is_in(table["id"], until))
        last = pc.max(times if len(times) else table["submitted_at"]).cast(pa.timestamp("us"))
        return np.datetime64(last.as_py(), "us") + np.timedelta64(1 + place, "us")

    def standing(self, scored: ScoredRecords) -> AttackStanding:
        """Return who stands where on the board of weights.

        The attacker is compared with the honest miners as one: with the sum of all weights.
        """
        own = set(map(str, self.season.miners))
        weights = {str(uid): 0.0 for uid in np.unique(self.world.facts.submissions.miners).tolist()}
        share = 0.0
        for row in scored.board("weights").rows():
            if row["id"] in own:
                share += row["weight"]
            elif row["id"] != str(self.season.rules.burn_uid):
                weights[row["id"]] = row["weight"]
        scores = [
            row["score"]
            for row in scored.board("submissions").rows()
            if str(row["miner_uid"]) in own
        ]
        everyone = np.sort([*weights.values(), share])
        above = {uid: len(everyone) - int(np.searchsorted(everyone, weight, side="right"))
                 for uid, weight in [*weights.items(), ("", share)]}  # fmt: skip
        rank = 1 + above.pop("")
        ranks = {uid: 1 + number for uid, number in above.items()}
        return AttackStanding(rank, max(scores, default=0.0), share, ranks)
