"""What published boards and epochs show beyond their rows, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Bin:
    """The number of participants with values in a range; a bin of one value has equal ends.

    Attributes:
        n: participants with a value from low to below high; the last bin has both.
    """

    low: float
    high: float
    n: int


@dataclass(frozen=True, kw_only=True)
class PartDistribution:
    """The values of the score or of one of its parts.

    Attributes:
        name: ``score`` or the part.
        n: number of participants that have it.
        bins: in rising order, adjacent and of equal width, or each of one value; their ``n`` sum
            to ``n``.
    """

    name: str
    n: int
    bins: tuple[Bin, ...]


@dataclass(frozen=True, kw_only=True)
class BoardColumn:
    """A column of numbers, flags or text, or a part of scores.

    Attributes:
        name: ``components.NAME`` is a part of the score.
        n: number of rows that have a value.
        low: the smallest number, where false is 0; None for text.
        high: the largest number, where true is 1.
        top: the first id on the board of those with the largest number; None for text and ranks.
        yes: of flags: number of rows with true.
        distinct: of text: number of different values.
        values: of text and whole numbers: the different values in their order, where there are at
            most 12 and fewer than rows; empty: there are more.
        meaning: what the value is, in a sentence; empty: the discipline does not say it.
        unit: of the value; empty: none.
        rules: the rules that determine it, the most important first.
    """

    name: str
    n: int
    low: float | None = None
    high: float | None = None
    top: str | None = None
    yes: int | None = None
    distinct: int | None = None
    values: tuple[str, ...] = ()
    meaning: str = ""
    unit: str = ""
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class EpochBurn:
    """An epoch: where the emission went, in shares of 1.

    They sum to 1, unless the burn is added to what miners get or the cap drops its excess.

    Attributes:
        epoch: its number.
        paid: to miners.
        decay: burned since no score improved.
        unassigned: burned since no competition has it.
        own: earned by submissions of the uid that burns, or of hotkeys without a uid.
        cap: burned since a miner may not get more.
        burn: what the uid that burns gets, 1 at the most (rule ``burn_application``).
    """

    epoch: int
    paid: float
    decay: float
    unassigned: float
    own: float
    cap: float
    burn: float


@dataclass(frozen=True, kw_only=True)
class MinerShares:
    """What a miner got of the emission of each epoch.

    Attributes:
        uid: its uid.
        hotkey: which held the uid last; None: the records name none.
        shares: of 1, one for each of the epochs listed.
    """

    uid: str
    hotkey: str | None
    shares: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Epochs:
    """The epochs of a challenge.

    Attributes:
        seq: position of the ledger.
        at: the ledger's time there.
        first, last: the first and the scored epoch.
        items: the last epochs, in rising order.
        miners: those that got most in these epochs, the one with most first.
        others: number of other miners that got something.
        forecast: burn and decay if no score improves, as ``agon forecast --format json``.
    """

    seq: int
    at: datetime
    first: int
    last: int
    items: tuple[EpochBurn, ...]
    miners: tuple[MinerShares, ...]
    others: int
    forecast: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Epoch:
    """One epoch.

    Attributes:
        seq: position of the ledger.
        at: the ledger's time there.
        first, last: the first and the last epoch.
        burn: where the emission went.
        weights, validators, competitions: the rows of its boards.
        payload: uids and weights as a Bittensor network takes them.
        hotkeys: by uid the hotkey that holds it in the epoch, if the records name it.
    """

    seq: int
    at: datetime
    first: int
    last: int
    burn: EpochBurn
    weights: tuple[Mapping[str, Any], ...]
    validators: tuple[Mapping[str, Any], ...]
    competitions: tuple[Mapping[str, Any], ...]
    payload: Mapping[str, Any]
    hotkeys: Mapping[str, str]


@dataclass(frozen=True)
class Move:
    """Rank and score of one id on both boards.

    ``rank_change`` is positive for a climb: from rank 5 to 2 is +3.
    """

    id: str
    rank_before: int
    rank_after: int
    score_before: float
    score_after: float
    score_change: float

    @property
    def rank_change(self) -> int:
        """The number of ranks gained; negative when ranks were lost."""
        return self.rank_before - self.rank_after

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return {**self.__dict__, "rank_change": self.rank_change}
