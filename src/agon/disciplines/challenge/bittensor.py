"""Write weights as the Bittensor network takes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agon.disciplines.challenge.reasons import number
from agon.kernel.boards import Board
from agon.kernel.rounding import U16

_NAMED: Final = 5
"""Maximum number of uids that a message names."""


@dataclass(frozen=True)
class WeightsPayload:
    """The two lists of ``set_weights``: ``uids`` and their ``weights`` of 65535."""

    uids: tuple[int, ...]
    weights: tuple[int, ...]

    def to_dict(self) -> dict[str, list[int]]:
        """Return a plain value for JSON."""
        return {"uids": list(self.uids), "weights": list(self.weights)}


def payload_of_board(board: Board) -> WeightsPayload:
    """Return the weights of a board of weights, by uid."""
    weights = {int(row["id"]): float(row["weight"]) for row in board.rows()}
    uids = sorted(weights)
    return payload(uids, [weights[uid] for uid in uids])


def left_out_of_payload(board: Board) -> dict[int, float]:
    """Return by uid the weights above 0 of a board that round to 0 in its payload."""
    sent = payload_of_board(board).uids
    weights = {int(row["id"]): float(row["weight"]) for row in board.rows()}
    return {uid: weights[uid] for uid in sorted(weights) if weights[uid] > 0 and uid not in sent}


def left_out_text(lost: Mapping[int, float]) -> str:
    """Return which weights a payload leaves out, and why.

    Example:
        >>> left_out_text({3: 5e-07})  # doctest: +ELLIPSIS
        'the weight of 3 (5e-07) is above 0 and less than half of 1 / 65535 of the largest: ...'
    """
    named = ", ".join(f"{uid} ({number(weight)})" for uid, weight in [*lost.items()][:_NAMED])
    more = f" and {len(lost) - _NAMED:,} more" if len(lost) > _NAMED else ""
    return (
        f"the weight of {named}{more} is above 0 and less than half of 1 / 65535 of the largest: "
        "it becomes 0 and is left out of the payload"
    )


def payload(uids: Sequence[int], weights: Sequence[float]) -> WeightsPayload:
    """Scale weights so that the largest is 65535, round, and leave zeros out.

    W = round(w / max(w) × 65535), a half to the even neighbor, in the input order: the result of
    the SDK's ``convert_weights_and_uids_for_emit`` on the same input. Without a weight above 0
    both lists are empty.

    Raises:
        ValueError: when the lists differ in length, or a uid or weight is negative.

    Source: challenge, Bittensor payload.

    Example:
        >>> payload([0, 1, 2, 3], [0.5, 0.3, 0.2, 0.0])
        WeightsPayload(uids=(0, 1, 2), weights=(65535, 39321, 26214))
    """
    if len(uids) != len(weights):
        raise ValueError(f"{len(uids)} uids but {len(weights)} weights")
    if any(uid < 0 for uid in uids) or any(weight < 0 for weight in weights):
        raise ValueError("a uid or a weight is negative")
    largest = max(weights, default=0.0)
    if largest == 0:
        return WeightsPayload((), ())
    scaled = (
        (uid, round(weight / largest * U16)) for uid, weight in zip(uids, weights, strict=True)
    )
    nonzero = [(int(uid), weight) for uid, weight in scaled if weight != 0]
    return WeightsPayload(tuple(uid for uid, _ in nonzero), tuple(weight for _, weight in nonzero))
