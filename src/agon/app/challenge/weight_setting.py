"""Send an epoch's weights to a Bittensor network; the network's client is behind a port."""

from dataclasses import dataclass
from typing import Any, Protocol

from agon.app.analysis.score import Result
from agon.app.challenge.epochs import outcome_of, payload_of
from agon.disciplines.challenge.bittensor import Payload
from agon.errors import NotScorable

MAX_UID = 65_535
"""UIDs of a Bittensor network have 16 bits."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """Hold which weights shall be set, where, and by whom.

    Attributes:
        netuid: the subnet.
        network: the chain: ``finney``, ``test``, ``local`` or its address.
        wallet: name of the wallet (its coldkey).
        hotkey: name of the hotkey that signs.
        epoch: the epoch these are the weights of.
        payload: uids and weights.
    """

    netuid: int
    network: str
    wallet: str
    hotkey: str
    epoch: int
    payload: Payload

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
    """Set weights on a chain. This is the contract; every adapter keeps it.

    An order is sent whole and as it is: the same uids, in proportion the same weights. What the
    chain or its client refuses is raised, never passed over.
    """

    def set_weights(self, order: Order) -> str:
        """Send an order, wait until the chain has it, and return what the chain said.

        Raises:
            Conflict: the chain refused it (not registered, too early, …), with its words.
            NotFound: there is no such wallet or hotkey.
            Unavailable: the chain cannot be reached.
        """
        ...


def order_of(result: Result, *, netuid: int, network: str, wallet: str, hotkey: str) -> Order:
    """Make the order that sets the weights of the scored epoch.

    Raises:
        NotScorable: a uid is none of a Bittensor network.
    """
    epoch, payload = outcome_of(result).epoch, payload_of(result)
    if payload.uids[-1] > MAX_UID:
        raise NotScorable(
            f"uid {payload.uids[-1]} is none of a Bittensor network (0 to {MAX_UID}); give the "
            "submissions the miner_uid the subnet knows"
        )
    return Order(
        netuid=netuid, network=network, wallet=wallet, hotkey=hotkey, epoch=epoch, payload=payload
    )
