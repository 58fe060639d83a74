"""Set weights on a Bittensor chain through its SDK, version 10 or 11."""

from importlib import import_module
from typing import Any

from agon.app.challenge.weight_setting import Order
from agon.errors import AgonError, Conflict, NotFound, Unavailable

_NO_REASON = "it gave no reason; most often its rate limit, so wait some blocks and try again"
_NO_KEY = ("KeyFileError", "KeyfileError", "FileNotFoundError")


class Bittensor:
    """A weight setter that uses the SDK (:class:`agon.app.challenge.weight_setting.WeightSetter`).

    Version 11 has one function for it; version 10 a method of its connection, which reports a
    rejection by its result instead of raising. Both scale weights so that the largest is 65535;
    the payload's are scaled that way already, so the weights shown are the weights sent. A subnet
    with a maximum weight clips them.
    """

    def __init__(self, sdk: Any) -> None:
        self._sdk = sdk

    def set_weights(self, order: Order) -> str:
        """Send an order, wait until the chain has finalized it, and return the chain's message."""
        send = self._by_function if hasattr(self._sdk, "set_weights") else self._by_connection
        try:
            return send(order)
        except AgonError:
            raise
        except Exception as failed:
            raise _to_agon_error(failed) from failed

    def owner_uid(self, *, netuid: int, network: str) -> int | None:
        """Return the uid of the subnet owner's hotkey; None where it has none.

        Raises:
            Unavailable: the chain cannot be reached, or the SDK has no connection that answers.
        """
        try:
            connection = self._sdk.Subtensor(network=network)
            try:
                hotkey = connection.get_subnet_owner_hotkey(netuid)
                if hotkey is None:
                    return None
                uid = connection.get_uid_for_hotkey_on_subnet(hotkey, netuid)
            finally:
                connection.close()
        except Exception as failed:
            raise Unavailable(
                f"the chain was not asked for the owner of subnet {netuid} "
                f"({type(failed).__name__}): {failed}; --burn-uid-anyway sends without asking"
            ) from failed
        return None if uid is None else int(uid)

    def _by_function(self, order: Order) -> str:
        payload = order.payload
        result = self._sdk.set_weights(
            order.netuid,
            dict(zip(payload.uids, payload.weights, strict=True)),
            wallet=order.wallet,
            hotkey=order.hotkey,
            network=order.network,
        )
        extrinsic = result.extrinsic_id or result.block_hash
        return str(result.message or (f"extrinsic {extrinsic}" if extrinsic else "accepted"))

    def _by_connection(self, order: Order) -> str:
        wallet = self._sdk.Wallet(name=order.wallet, hotkey=order.hotkey)
        connection = self._sdk.Subtensor(network=order.network)
        try:
            accepted, message = connection.set_weights(
                wallet=wallet,
                netuid=order.netuid,
                uids=list(order.payload.uids),
                weights=list(order.payload.weights),
                wait_for_inclusion=True,
                wait_for_finalization=True,
            )
        finally:
            connection.close()
        if not accepted:
            raise Conflict(f"the chain rejected the weights: {message or _NO_REASON}")
        return str(message or "accepted")


def open_bittensor() -> Bittensor:
    """Return a weight setter that uses the installed SDK.

    Raises:
        Unavailable: it is not installed.
    """
    try:
        sdk = import_module("bittensor")
    except ImportError:
        raise Unavailable(
            "sending weights needs the Bittensor SDK: pip install 'agon-engine[bittensor]'"
        ) from None
    return Bittensor(sdk)


def _to_agon_error(failed: Exception) -> AgonError:
    """Return an exception of the SDK as one of agon, with its message."""
    kind = type(failed).__name__
    message = str(failed) or kind
    if kind in _NO_KEY:
        return NotFound(f"the wallet has no such key: {message}")
    if kind == "ChainError":
        return Conflict(f"the chain rejected the weights: {message}")
    return Unavailable(f"the weights were not set ({kind}): {message}")
