"""Write weights as the Bittensor network takes them."""

from collections.abc import Sequence
from dataclasses import dataclass

from agon.kernel.boards import Board
from agon.kernel.rounding import U16


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
