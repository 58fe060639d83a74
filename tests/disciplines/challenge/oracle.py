"""Score the challenge a second time: in exact fractions, with dicts and loops, from the page alone.

Nothing of agon is imported. Numbers enter as the decimals they are written as.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

Row = Mapping[str, Any]
Tables = Mapping[str, list[dict[str, Any]]]

DEFAULTS: dict[str, Any] = {
    "duplicate_content": "everywhere",
    "evaluation_window": None,
    "min_validators": 3,
    "zero_stake_counts": False,
    "outlier_threshold": 3.5,
    "outlier_min_values": 3,
    "mad_when_zero": 0.01,
    "outlier_weights": "equal",
    "exclude_outliers": True,
    "min_stake_fraction": 0.3,
    "min_stake_of": "submission",
    "mean_over": "included",
    "strategy": "linear",
    "top_n": 1,
    "improvement_threshold": 0.02,
    "improvement": "relative",
    "improvement_by": "new_agent",
    "improvement_stake": 0,
    "grace_epochs": 10,
    "decay_curve": "linear",
    "decay_rate": 0.05,
    "max_burn": 80,
    "burn_application": "scaled",
    "weight_cap": 0.5,
    "cap_excess": "redistribute",
    "rounding": "nearest",
    "epoch": None,
}


def exact(value: float | str) -> Fraction:
    """Read a number as the decimal it is written as."""
    return Fraction(str(value))


def id_key(name: object) -> tuple[int, int, str]:
    """Order ids: whole numbers by value, then text."""
    text = str(name)
    is_integer = text.lstrip("-").isdigit() and str(int(text)) == text
    return (0, int(text), "") if is_integer else (1, 0, text)


def middle(values: list[Fraction]) -> Fraction:
    """Return the median."""
    ordered = sorted(values)
    half = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[half]
    return (ordered[half - 1] + ordered[half]) / 2


def weighted_middle(values: list[tuple[Fraction, Fraction]]) -> Fraction:
    """Return the median of values by weight: the middle of all values that split it in halves."""
    if not any(weight for _, weight in values):
        return middle([value for value, _ in values])
    total = sum(weight for _, weight in values)
    halves = [
        value
        for value, weight in values
        if weight
        and 2 * sum(w for v, w in values if v <= value) >= total
        and 2 * sum(w for v, w in values if v >= value) >= total
    ]
    return (min(halves) + max(halves)) / 2


class Contest:
    """Answer what comes out of one set of tables under one set of rules."""

    def __init__(self, tables: Tables, **rules: Any) -> None:
        self.network = {**DEFAULTS, **rules}
        self.submissions = {str(row["id"]): row for row in tables["submissions"]}
        rows = tables.get("competitions") or [{"id": "main", "emission_share": 1}]
        self.competitions = {str(row["id"]): row for row in rows}
        self.stakes: list[tuple[float, str, Fraction]] = [
            (-float("inf") if row.get("epoch") is None else row["epoch"], str(row["id"]),
             exact(row["stake"]))
            for row in tables["validators"]
        ]  # fmt: skip
        self.evaluations = self._evaluations(tables)
        recorded = [when for when, *_ in self.evaluations]
        recorded += [int(when) for when, *_ in self.stakes if when != -float("inf")]
        self.epoch = self.network["epoch"]
        if self.epoch is None:
            self.epoch = max(recorded, default=0)
        self.first = min([*recorded, self.epoch])
        self.originals = self._originals()
        self.history = self._history()

    def rules(self, competition: str) -> dict[str, Any]:
        """Apply a competition's own rules over the network's."""
        row = self.competitions[competition]
        own = {k: v for k, v in row.items() if k in DEFAULTS and v is not None}
        return {**self.network, **own}

    def competition(self, submission: str) -> str:
        """Name a submission's competition."""
        name = self.submissions[submission].get("competition")
        return "main" if name is None else str(name)

    def _evaluations(self, tables: Tables) -> list[tuple[int, str, str, Fraction]]:
        """List (epoch, submission, validator, score) so that later ones replace earlier ones."""
        known = {name for _, name, _ in self.stakes}
        passed: dict[tuple[str, str], list[bool]] = {}
        for row in tables.get("task_results") or []:
            pair = (str(row["submission_id"]), str(row["validator_id"]))
            passed.setdefault(pair, []).append(row["passed"])
        result = [
            ((0, False, "", -1), *pair, Fraction(sum(hits), len(hits)))
            for pair, hits in passed.items()
        ]
        for place, row in enumerate(tables.get("evaluations") or []):
            epoch = row.get("epoch")
            order = (epoch or 0, epoch is not None, str(row.get("evaluated_at") or ""), place)
            result.append(
                (order, str(row["submission_id"]), str(row["validator_id"]), exact(row["score"]))
            )
        return [
            (order[0], submission, validator, score)
            for order, submission, validator, score in sorted(result)
            if submission in self.submissions and validator in known
        ]

    def _turn(self, submission: str) -> tuple[str, tuple[int, int, str]]:
        return (str(self.submissions[submission]["submitted_at"]), id_key(submission))

    def _originals(self) -> dict[str, str]:
        scope = self.network["duplicate_content"]
        first: dict[Any, str] = {}
        result = {}
        for name in sorted(self.submissions, key=self._turn):
            content = self.submissions[name].get("content_hash")
            if not content or scope == "allowed":
                result[name] = name
                continue
            place = self.competition(name) if scope == "competition" else None
            result[name] = first.setdefault((place, content), name)
        return result

    def stakes_at(self, epoch: int) -> dict[str, Fraction]:
        """Return each registered validator's stake."""
        return {name: stake for when, name, stake in sorted(self.stakes, key=lambda s: s[0])
                if when <= epoch}  # fmt: skip

    def reported(self, submission: str, epoch: int) -> dict[str, Fraction]:
        """Return the evaluations of a submission that count at an epoch."""
        rules = self.rules(self.competition(submission))
        window = rules["evaluation_window"]
        latest = {}
        for when, of, validator, score in self.evaluations:
            if of == submission and when <= epoch:
                latest[validator] = (when, score)
        registered = {
            v: stake for v, stake in self.stakes_at(epoch).items()
            if (stake or rules["zero_stake_counts"]) and self._has_enough(stake, rules, epoch)
        }  # fmt: skip
        return {
            validator: score
            for validator, (when, score) in latest.items()
            if validator in registered and (window is None or epoch - when < window)
        }

    def _has_enough(self, stake: Fraction, rules: dict[str, Any], epoch: int) -> bool:
        """Return whether a validator has the stake that each one needs."""
        total = sum(self.stakes_at(epoch).values())
        if rules["min_stake_of"] == "submission" or not total:
            return True
        return stake / total >= exact(rules["min_stake_fraction"])

    def z_scores(self, submission: str, epoch: int) -> dict[str, Fraction]:
        """Return the modified z-score of each evaluation that counts."""
        rules = self.rules(self.competition(submission))
        reported = self.reported(submission, epoch)
        if not reported:
            return {}
        stakes = self.stakes_at(epoch)
        if rules["outlier_weights"] == "equal":
            stakes = dict.fromkeys(stakes, Fraction(1))
        center = weighted_middle([(score, stakes[v]) for v, score in reported.items()])
        spread = weighted_middle([(abs(x - center), stakes[v]) for v, x in reported.items()])
        if spread < Fraction(1, 10**9):
            spread = exact(rules["mad_when_zero"])
        return {v: exact("0.6745") * (score - center) / spread for v, score in reported.items()}

    def outliers(self, submission: str, epoch: int) -> set[str]:
        """Name the validators whose evaluation is an outlier."""
        rules = self.rules(self.competition(submission))
        z = self.z_scores(submission, epoch)
        if len(z) < rules["outlier_min_values"]:
            return set()
        return {v for v, far in z.items() if abs(far) > exact(rules["outlier_threshold"])}

    def stake_fraction(self, submission: str, epoch: int) -> Fraction:
        """Return the part of all stake of the evaluations that count."""
        stakes = self.stakes_at(epoch)
        total = sum(stakes.values())
        return sum((stakes[v] for v in self._kept(submission, epoch)), Fraction()) / total

    def _kept(self, submission: str, epoch: int) -> list[str]:
        out = set()
        if self.rules(self.competition(submission))["exclude_outliers"]:
            out = self.outliers(submission, epoch)
        return [v for v in self.reported(submission, epoch) if v not in out]

    def score(self, submission: str, epoch: int) -> Fraction | None:
        """Return a submission's consensus score, or None where it has none."""
        rules = self.rules(self.competition(submission))
        reported, stakes = self.reported(submission, epoch), self.stakes_at(epoch)
        if self.originals[submission] != submission or len(reported) < rules["min_validators"]:
            return None
        if not reported or not sum(stakes.values()):
            return None
        fraction = self.stake_fraction(submission, epoch)
        together = rules["min_stake_of"] == "submission"
        if fraction == 0 or (together and fraction < exact(rules["min_stake_fraction"])):
            return None
        counted = self._kept(submission, epoch)
        weighted = sum((stakes[v] * reported[v] for v in counted), Fraction())
        whose = counted if rules["mean_over"] == "included" else list(reported)
        return weighted / sum((stakes[v] for v in whose), Fraction())

    def _history(self) -> dict[str, tuple[Fraction, int] | None]:
        """Carry every competition through every epoch: (top, last improvement)."""
        states: dict[str, tuple[Fraction, int] | None] = dict.fromkeys(self.competitions)
        for epoch in range(self.first, self.epoch + 1):
            for competition in self.competitions:
                better = [
                    (-score, self._turn(name), name)
                    for name in self.submissions if self.competition(name) == competition
                    and (score := self.score(name, epoch) or Fraction())
                    and self._improves(score, states[competition], competition)
                    and self._is_supported(name, epoch, states[competition])
                ]  # fmt: skip
                if better and self._is_new(min(better)[2], states[competition], competition):
                    states[competition] = (-min(better)[0], epoch)
        return states

    def _is_new(
        self, submission: str, state: tuple[Fraction, int] | None, competition: str
    ) -> bool:
        """Return whether a submission was first evaluated after the top score was set."""
        if state is None or self.rules(competition)["improvement_by"] == "any":
            return True
        return self.first_counted(submission) > state[1]

    def first_counted(self, submission: str) -> int:
        """Return the first epoch in which an evaluation of a submission counted."""
        return next(e for e in range(self.first, self.epoch + 1) if self.reported(submission, e))

    def _improves(
        self, score: Fraction, state: tuple[Fraction, int] | None, competition: str
    ) -> bool:
        rules = self.rules(competition)
        step = exact(rules["improvement_threshold"])
        if state is None:
            return score > 0
        wanted = state[0] * (1 + step) if rules["improvement"] == "relative" else state[0] + step
        return score > state[0] and score >= wanted

    def _is_supported(
        self, submission: str, epoch: int, state: tuple[Fraction, int] | None
    ) -> bool:
        """Return whether enough of the stake behind a score improves by itself."""
        competition = self.competition(submission)
        needed = exact(self.rules(competition)["improvement_stake"])
        if not needed:
            return True
        reported, stakes = self.reported(submission, epoch), self.stakes_at(epoch)
        kept = self._kept(submission, epoch)
        agreeing = [v for v in kept if self._improves(reported[v], state, competition)]
        return sum(stakes[v] for v in agreeing) >= needed * sum(stakes[v] for v in kept)

    def burn_percent(self, competition: str) -> Fraction:
        """Return how much of a competition burns, in percent."""
        state, rules = self.history[competition], self.rules(competition)
        if state is None:
            return Fraction()
        stale = max(0, self.epoch - state[1] - rules["grace_epochs"])
        rate = exact(rules["decay_rate"])
        burning = rate * stale if rules["decay_curve"] == "linear" else 1 - (1 - rate) ** stale
        return min(Fraction(100 * burning), exact(rules["max_burn"]))

    def shares(self, competition: str) -> dict[int, Fraction]:
        """Return each miner's share of a competition."""
        rules = self.rules(competition)
        best: dict[int, tuple[Any, ...]] = {}
        for name, row in self.submissions.items():
            score = self.score(name, self.epoch)
            if self.competition(name) != competition or score is None:
                continue
            key = (-score, self._turn(name))
            uid = row["miner_uid"]
            best[uid] = min(best.get(uid, key), key)
        order = sorted(best, key=lambda uid: best[uid])
        scores = {uid: -best[uid][0] for uid in order}
        if not any(scores.values()):
            return dict.fromkeys(order, Fraction())
        if rules["strategy"] == "winner_takes_all":
            winners = [uid for uid in order[: rules["top_n"]] if scores[uid] > 0]
            return {uid: Fraction(uid in winners, len(winners)) for uid in order}
        if rules["strategy"] == "ranked":
            n = len(order)
            return {uid: Fraction(2 * (n - at), n * (n + 1)) for at, uid in enumerate(order)}
        power = 2 if rules["strategy"] == "quadratic" else 1
        total = sum(score**power for score in scores.values())
        return {uid: score**power / total for uid, score in scores.items()}

    def weights(self) -> dict[int, Fraction]:
        """Return every uid's weight, the burn as that of uid 0."""
        paid: dict[int, Fraction] = {0: Fraction(1)}
        for competition, row in self.competitions.items():
            part, shares = exact(row["emission_share"]), self.shares(competition)
            paid[0] -= part
            if not any(shares.values()):
                paid[0] += part
                paid.update({uid: paid.get(uid, Fraction()) for uid in shares})
                continue
            burning = self.burn_percent(competition) / 100
            paid[0] += part * burning
            for uid, share in shares.items():
                left = 1 - burning if self.rules(competition)["burn_application"] == "scaled" else 1
                paid[uid] = paid.get(uid, Fraction()) + part * left * share
        return self._capped(paid)

    def _capped(self, paid: dict[int, Fraction]) -> dict[int, Fraction]:
        """Cap what miners earn; uid 0, which may earn beside an added burn, gets at most all."""
        miners = {uid: weight for uid, weight in paid.items() if uid}
        limit = exact(self.network["weight_cap"]) * sum(miners.values())
        burn, how = paid[0], self.network["cap_excess"]
        while how == "redistribute":
            above = {uid for uid, weight in miners.items() if weight > limit}
            excess = sum((miners[uid] - limit for uid in above), Fraction())
            miners.update(dict.fromkeys(above, limit))
            takers = {uid: w for uid, w in miners.items() if 0 < w < limit}
            if not excess or not takers:
                return {0: min(Fraction(1), burn + excess), **miners}
            for uid, weight in takers.items():
                miners[uid] += excess * weight / sum(takers.values())
        excess = sum((max(Fraction(), w - limit) for w in miners.values()), Fraction())
        cut = {uid: min(weight, limit) for uid, weight in miners.items()}
        return {0: min(Fraction(1), burn + (excess if how == "burn" else 0)), **cut}

    def u16(self) -> dict[int, int]:
        """Give whole numbers of 65535, a half rounded up."""
        return {uid: int(w * 65535 + Fraction(1, 2)) for uid, w in self.weights().items()}
