"""The weights of an epoch for a Bittensor network, and the port that sends them."""

from dataclasses import dataclass
from typing import Any, Protocol

from agon.app.analysis.score import Result
from agon.app.challenge.epochs import outcome_of, payload_of
from agon.disciplines.challenge.bittensor import WeightsPayload
from agon.errors import Conflict


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
        burn_uid: the uid that receives what burns.
    """

    netuid: int
    network: str
    wallet: str
    hotkey: str
    epoch: int
    payload: WeightsPayload
    burn_uid: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return {
            "netuid": self.netuid,
            "network": self.network,
            "wallet": self.wallet,
            "hotkey": self.hotkey,
            "epoch": self.epoch,
            "burn_uid": self.burn_uid,
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

    def owner_uid(self, *, netuid: int, network: str) -> int | None:
        """Return the uid of the subnet owner's hotkey; None where it has none.

        Raises:
            Unavailable: the chain cannot be reached, or its client cannot ask.
        """
        ...


def require_burn_uid(setter: WeightSetter, order: Order) -> None:
    """Raise unless what burns goes to the subnet's owner, whose incentive the chain burns.

    Raises:
        Conflict: the uid is somebody else's, who would be paid what should burn.
        Unavailable: the chain cannot be asked.
    """
    if order.burn_uid not in order.payload.uids:
        return
    owner = setter.owner_uid(netuid=order.netuid, network=order.network)
    if owner == order.burn_uid:
        return
    holds = "holds no uid" if owner is None else f"holds uid {owner}"
    remedy = "" if owner is None else f"score with --set burn_uid={owner}, or "
    raise Conflict(
        f"uid {order.burn_uid} would be paid what should burn: the owner of subnet "
        f"{order.netuid} {holds}; {remedy}send it with --burn-uid-anyway"
    )


def order_of(result: Result, *, netuid: int, network: str, wallet: str, hotkey: str) -> Order:
    """Return the order that sets the weights of the scored epoch."""
    outcome, payload = outcome_of(result), payload_of(result)
    return Order(
        netuid=netuid,
        network=network,
        wallet=wallet,
        hotkey=hotkey,
        epoch=outcome.epoch,
        payload=payload,
        burn_uid=outcome.network.rules.burn_uid,
    )
