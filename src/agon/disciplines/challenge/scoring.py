"""Score the challenge: one epoch's boards, and the explanation of every id on them."""

from dataclasses import dataclass, replace
from functools import cached_property

from agon.disciplines.challenge import bittensor, boards
from agon.disciplines.challenge.explanations import competitions, submissions, waterfall
from agon.disciplines.challenge.facts import read_facts
from agon.disciplines.challenge.outcome import Outcome, outcome_of
from agon.disciplines.challenge.recorded_trials import reach_by_submission
from agon.disciplines.challenge.rules import BOARDS, ChallengeRules
from agon.errors import NotFound, did_you_mean
from agon.kernel.boards import Board
from agon.kernel.explanations import Explanation
from agon.records import Records


@dataclass(frozen=True)
class ScoredChallenge:
    """One scored epoch; boards and explanations are computed on demand."""

    records: Records
    outcome: Outcome

    def board(self, name: str) -> Board:
        """Return a board.

        Raises:
            NotFound: the board does not exist.
        """
        if name == "weights":
            return self._weights
        if name == "submissions":
            return self._submissions
        if name == "validators":
            return self._at_epoch(boards.validators_board(self.outcome))
        if name == "competitions":
            return self._at_epoch(boards.competitions_board(self.outcome))
        raise NotFound(f"challenge has no board {name!r}: {did_you_mean(name, BOARDS)}")

    def explain(self, name: str, *, board: str) -> Explanation:
        """Explain an id on a board, from evaluations to the published number.

        Raises:
            NotFound: the id or board does not exist.
        """
        shown = self.board(board)
        if board == "weights":
            return waterfall.explain_weight(self.records, self.outcome, shown, name)
        if board == "submissions":
            return submissions.explain_submission(self.records, self.outcome, shown, name)
        if board == "validators":
            return submissions.explain_validator(self.outcome, shown, name)
        return competitions.explain_competition(self.outcome, shown, name)

    def payload(self) -> bittensor.WeightsPayload:
        """Return the weights as the Bittensor network's ``set_weights`` takes them, by uid."""
        return bittensor.payload_of_board(self._weights)

    def _at_epoch(self, board: Board) -> Board:
        """Return a board that names its epoch, and the last one in the records where it is not."""
        epoch, last = self.outcome.epoch, self.outcome.network.facts.last_epoch
        ends = "" if epoch == last else f" (the records end at {last})"
        return replace(
            board,
            context={"epoch": epoch, "last_epoch": last},
            caption=f"epoch {epoch}{ends}",
        )

    @cached_property
    def _weights(self) -> Board:
        return self._at_epoch(boards.weights_board(self.outcome))

    @cached_property
    def _submissions(self) -> Board:
        return self._at_epoch(
            boards.submissions_board(self.outcome, reach_by_submission(self.records))
        )


def score(records: Records, rules: ChallengeRules) -> ScoredChallenge:
    """Score one epoch: rule ``epoch``, or the last in the records.

    Raises:
        NotScorable: no stake is registered at that epoch.

    Source: challenge, From evaluations to weights.
    """
    return ScoredChallenge(records, outcome_of(read_facts(records), rules))
