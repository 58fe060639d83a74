"""What published boards show beyond their rows: distributions, movement, other rules, epochs."""

from datetime import datetime
from typing import Any

from pydantic import Field

from agon.api.models.base import Resource
from agon.api.models.boards import Explanation, SnapshotReference
from agon.disciplines import capabilities
from agon.entities import boards as entities


class DistributionBin(Resource, entities.Bin):
    """A bin."""


class PartDistribution(Resource, entities.PartDistribution):
    """The values of the score, or of one of its parts."""

    bins: tuple[DistributionBin, ...]


class Distribution(Resource):
    """The distribution of a board's scores and of their parts."""

    board: str
    seq: int = Field(description="Position of the ledger.")
    at: datetime
    board_sha256: str
    rows_total: int
    parts: tuple[PartDistribution, ...] = Field(description="The score first.")


class BoardColumn(Resource, entities.BoardColumn):
    """A column of a board, or a part of its scores."""


class Columns(Resource):
    """The columns of a board, by each of which its rows can be sorted."""

    board: str
    seq: int = Field(description="Position of the ledger.")
    board_sha256: str
    rows_total: int
    columns: tuple[BoardColumn, ...]


class BoardBefore(SnapshotReference):
    """The board that ranks are compared with."""


class Movement(Resource):
    """The ranks that the participants of a page had before."""

    board: str
    seq: int = Field(description="Position of the ledger.")
    since: BoardBefore | None = Field(
        description="The last board of an earlier day, else the one before."
    )
    ranks: dict[str, int | None] = Field(description="By id; null: it was not on that board.")


class Solution(Resource, capabilities.Solution):
    """What a participant has on a problem."""


class MatrixRow(Resource):
    """A participant's row of a matrix."""

    id: str
    rank: int
    score: float
    solutions: dict[str, Solution] = Field(description="By problem.")


class ProblemMatrix(Resource):
    """A page of the default board by problem."""

    board: str
    seq: int = Field(description="Position of the ledger.")
    at: datetime
    rows_total: int
    start: int = Field(description="Index of the first row, from 0.")
    next: str | None
    previous: str | None
    names: dict[str, str] | None = Field(description="Of the participants that have one.")
    problems: tuple[str, ...]
    solved_by: dict[str, int] = Field(description="By problem how many participants solved it.")
    rows: tuple[MatrixRow, ...]


class WhatIf(Resource):
    """A score under the rules in force and under others."""

    before: Explanation
    after: Explanation
    rules: dict[str, dict[str, Any]] = Field(description="The rules that differ: left, right.")


class RankMove(Resource, entities.Move, hide=("score_change",)):
    """Rank and score of a participant before and after."""


class RulesEffect(Resource):
    """What other rules would do to a board."""

    board: str
    seq: int = Field(description="Position of the ledger.")
    rules: dict[str, dict[str, Any]] = Field(description="The rules that differ: left, right.")
    summary: dict[str, Any]
    moves: tuple[RankMove, ...] = Field(description="The first ones; largest change first.")


class EpochBurn(Resource, entities.EpochBurn):
    """Where the emission of an epoch went, in shares of 1."""


class MinerShares(Resource, entities.MinerShares):
    """What a miner got of the emission of each of the epochs listed."""


class Epochs(Resource, entities.Epochs):
    """The epochs of a challenge, and the forecast if no score improves."""

    items: tuple[EpochBurn, ...]
    miners: tuple[MinerShares, ...] = Field(
        description="Those that got most in these epochs, the one with most first."
    )


class Epoch(Resource, entities.Epoch):
    """An epoch of a challenge."""

    burn: EpochBurn
