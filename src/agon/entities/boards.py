"""What is counted of published boards and epochs, as plain values."""

from dataclasses import dataclass


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
class Column:
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
