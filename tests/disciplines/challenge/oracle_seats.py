"""Score networks with registrations a second time: miners are hotkeys, and uids are seats."""

from fractions import Fraction
from typing import Any

from disciplines.challenge.oracle import Contest, Tables


class SeatedContest(Contest):
    """A contest whose hotkeys hold uids, epoch by epoch."""

    def __init__(self, tables: Tables, **rules: Any) -> None:
        self.registrations = tables.get("registrations") or []
        self.unregistered = rules.pop("unregistered", "exclude")
        self.top_of_departed = rules.pop("top_of_departed", "drop")
        super().__init__(tables, **rules)

    def holders(self, epoch: int) -> dict[str, int]:
        """Return by hotkey the uid that it holds in an epoch."""
        held: dict[int, str | None] = {}
        for row in sorted(self.registrations, key=lambda row: row.get("from_epoch") or 0):
            if (row.get("from_epoch") or 0) <= epoch:
                held[row["uid"]] = row["hotkey"]
        return {hotkey: uid for uid, hotkey in held.items() if hotkey}

    def uid(self, submission: str, epoch: int) -> int | None:
        """Return the uid that a submission scores for; None: its hotkey holds none."""
        row = self.submissions[submission]
        if not self.registrations or not row.get("miner_hotkey"):
            return int(row["miner_uid"])
        return self.holders(epoch).get(row["miner_hotkey"])

    def score(self, submission: str, epoch: int) -> Fraction | None:
        """Return a submission's score; without a seat there is none, unless its share burns."""
        if self.unregistered == "exclude" and self.uid(submission, epoch) is None:
            return None
        return super().score(submission, epoch)

    def _history(self) -> dict[str, tuple[Fraction, int] | None]:
        """Carry every competition through every epoch: (top, last improvement)."""
        states: dict[str, tuple[Fraction, int] | None] = dict.fromkeys(self.competitions)
        self.top_set = dict.fromkeys(self.competitions, 0)
        holders: dict[str, str] = {}
        for epoch in range(self.first, self.epoch + 1):
            for competition in self.competitions:
                ranked = sorted(
                    (-(self.score(name, epoch) or Fraction()), self._turn(name), name)
                    for name in self.submissions
                    if self.competition(name) == competition and self.uid(name, epoch) is not None
                )
                set_in, state = self.top_set[competition], states[competition]
                if state and state[0] and self._has_left(holders[competition], epoch):
                    best = -ranked[0][0] if ranked else Fraction()
                    states[competition] = state = (min(best, state[0]), state[1])
                    holders[competition] = ranked[0][2] if ranked else ""
                    self.top_set[competition] = epoch
                better = [
                    one for one in ranked
                    if one[0] and self._improves(-one[0], state, competition)
                    and self._is_supported(one[2], epoch, state)
                ]  # fmt: skip
                if better and self._is_younger(better[0][2], set_in, state, competition):
                    states[competition] = (-better[0][0], epoch)
                    holders[competition] = better[0][2]
                    self.top_set[competition] = epoch
        return states

    def _has_left(self, holder: str, epoch: int) -> bool:
        return self.top_of_departed == "drop" and self.uid(holder, epoch) is None

    def _is_younger(
        self, submission: str, set_in: int, state: tuple[Fraction, int] | None, competition: str
    ) -> bool:
        """Return whether a submission was first evaluated after the top score was set."""
        if state is None or self.rules(competition)["improvement_by"] == "any":
            return True
        return self.first_counted(submission) > set_in

    def shares(self, competition: str) -> dict[int, Fraction]:
        """Return each uid's share of a competition; a departed hotkey's under a number below 0."""
        gone: dict[str, int] = {}
        rows = {}
        for name, row in self.submissions.items():
            uid = self.uid(name, self.epoch)
            if uid is None:
                uid = gone.setdefault(row["miner_hotkey"], -1 - len(gone))
            rows[name] = {**row, "miner_uid": uid}
        kept, self.submissions = self.submissions, rows
        try:
            return super().shares(competition)
        finally:
            self.submissions = kept

    def _capped(self, paid: dict[int, Fraction]) -> dict[int, Fraction]:
        """Cap what uids earn; what departed hotkeys earn burns."""
        seated = {uid: weight for uid, weight in paid.items() if uid >= 0}
        seated[0] += sum((weight for uid, weight in paid.items() if uid < 0), Fraction())
        return super()._capped(seated)
