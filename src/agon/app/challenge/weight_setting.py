"""The weights of an epoch for a Bittensor network, and the port that sends them."""

from dataclasses import dataclass
from typing import Any, Protocol

from agon.app.analysis.score import Result
from agon.app.challenge.epochs import outcome_of, payload_of
from agon.disciplines.challenge.bittensor import WeightsPayload
from agon.errors import NotScorable

MAX_UID = 65_535
"""Maximum UID of a Bittensor network: UIDs have 16 bits."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """Weights to set on a subnet, and the wallet that signs them.

    Attributes:
        netuid: the subnet.
        network: the chain: ``finney``, ``test``, ``local`` or its address.
        wallet: name of the wallet (its coldkey).
        hotkey: name of the hotkey that signs.
        epoch: the epoch of the weights.
        payload: uids and weights.
    """

    netuid: int
    network: str
    wallet: str
    hotkey: str
    epoch: int
    payload: WeightsPayload

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return {
            "netuid": self.netuid,
            "network": self.network,
            "wallet": self.wallet,
            "hotkey": self.hotkey,
            "epoch": self.epoch,
            **self.payload.to_dict(),
        }


class WeightSetter(Protocol):
    """Sets weights on a chain; the contract of every adapter.

    An order is sent completely and unchanged: the same uids, the same proportions of weights. An
    error of the chain or its client is raised, never ignored.
    """

    def set_weights(self, order: Order) -> str:
        """Send an order, wait until the chain has it, and return the chain's answer.

        Raises:
            Conflict: the chain rejected it (not registered, too early, …), with its message.
            NotFound: there is no such wallet or hotkey.
            Unavailable: the chain cannot be reached.
        """
        ...


def order_of(result: Result, *, netuid: int, network: str, wallet: str, hotkey: str) -> Order:
    """Return the order that sets the weights of the scored epoch.

    Raises:
        NotScorable: a uid is not possible on a Bittensor network.
    """
    epoch, payload = outcome_of(result).epoch, payload_of(result)
    if payload.uids[-1] > MAX_UID:
        raise NotScorable(
            f"uid {payload.uids[-1]} is not on a Bittensor network (0 to {MAX_UID}); give the "
            "submissions the miner_uid of the subnet"
        )
    return Order(
        netuid=netuid, network=network, wallet=wallet, hotkey=hotkey, epoch=epoch, payload=payload
    )
