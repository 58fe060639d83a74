"""Setting weights: the calls of either SDK, and the results of its responses."""

import json
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agon.app.challenge.weight_setting import Order, WeightSetter, require_burn_uid
from agon.disciplines.challenge.bittensor import WeightsPayload, payload
from agon.errors import AgonError, Conflict, NotFound, Unavailable
from agon.runners.bittensor import Bittensor, open_bittensor

VECTORS = json.loads((Path(__file__).parent / "bittensor_vectors.json").read_text())
ORDER = Order(
    netuid=5,
    network="test",
    wallet="validator",
    hotkey="one",
    epoch=3,
    payload=WeightsPayload((0, 7), (21845, 65535)),
)


@pytest.mark.parametrize("case", VECTORS["cases"])
def test_the_payload_equals_both_sdks_conversions(case: dict[str, Any]) -> None:
    """Recorded: convert_weights_and_uids_for_emit of 10.5.0 and normalize of 11.3.0 agree."""
    assert payload(case["uids"], case["weights"]).to_dict() == case["set"]


@pytest.mark.parametrize("case", VECTORS["cases"])
def test_scaling_a_payload_again_changes_nothing(case: dict[str, Any]) -> None:
    """The SDK scales whatever it is given; so what was shown is what is set."""
    once = payload(case["uids"], case["weights"])
    assert payload(once.uids, once.weights) == once


class ChainError(Exception):
    """The error of version 11 when the chain rejects weights."""


class KeyFileError(Exception):
    """What a wallet raises that lacks a key."""


@dataclass
class Sdk11:
    """Mirror bittensor 11: one function, which raises what goes wrong."""

    fails: Exception | None = None
    message: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)

    def set_weights(  # noqa: PLR0913 (the SDK's signature)
        self,
        netuid: int,
        weights: dict[int, float],
        *,
        uids: list[int] | None = None,
        wallet: str | None = None,
        hotkey: str | None = None,
        mechid: int = 0,
        version_key: int = 0,
        network: str = "finney",
        retries: int = 2,
    ) -> SimpleNamespace:
        """Set weights by uid; ``uids`` stays None with a mapping."""
        assert (uids, mechid, version_key, retries) == (None, 0, 0, 2)
        self.calls.append(
            {"netuid": netuid, "weights": weights, "wallet": wallet, "hotkey": hotkey,
             "network": network}
        )  # fmt: skip
        if self.fails:
            raise self.fails
        return SimpleNamespace(message=self.message, extrinsic_id="812-4", block_hash="0xab")


@dataclass
class Subtensor10:
    """Mirror the connection of bittensor 10; a rejection is its response."""

    answer: tuple[bool, str | None]
    calls: list[dict[str, Any]]
    closed: bool = False

    def set_weights(
        self,
        wallet: Any,
        netuid: int,
        uids: list[int],
        weights: list[int],
        mechid: int = 0,
        *,
        wait_for_inclusion: bool = True,
        wait_for_finalization: bool = True,
    ) -> tuple[bool, str | None]:
        """Set weights and wait for the block."""
        assert (mechid, wait_for_inclusion, wait_for_finalization) == (0, True, True)
        self.calls.append({"netuid": netuid, "uids": uids, "weights": weights, "wallet": wallet})
        return self.answer

    def get_subnet_owner_hotkey(self, netuid: int, block: int | None = None) -> str | None:
        """Return the hotkey of a subnet's owner."""
        assert block is None
        return {5: "5Owner", 6: "5Gone"}.get(netuid)

    def get_uid_for_hotkey_on_subnet(
        self, hotkey_ss58: str, netuid: int, block: int | None = None
    ) -> int | None:
        """Return the uid of a hotkey."""
        assert block is None
        return {("5Owner", 5): 3}.get((hotkey_ss58, netuid))

    def close(self) -> None:
        """End the connection."""
        self.closed = True


@dataclass
class Sdk10:
    """Mirror bittensor 10: wallets and connections are made first."""

    answer: tuple[bool, str | None] = (True, "Success")
    lost: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    connections: list[Subtensor10] = field(default_factory=list)

    def Wallet(self, *, name: str, hotkey: str) -> tuple[str, str]:  # noqa: N802 (the SDK's name)
        """Open a wallet."""
        if self.lost == "key":
            raise KeyFileError("Keyfile at: one does not exist")
        return name, hotkey

    def Subtensor(self, *, network: str) -> Subtensor10:  # noqa: N802 (the SDK's name)
        """Connect."""
        if self.lost == "network":
            raise ConnectionError(f"no way to {network}")
        self.connections.append(Subtensor10(self.answer, self.calls))
        return self.connections[-1]


def test_version_11_is_given_weights_by_uid() -> None:
    """Its one function takes a mapping, and names instead of a wallet."""
    sdk = Sdk11()
    setter: WeightSetter = Bittensor(sdk)
    assert setter.set_weights(ORDER) == "extrinsic 812-4"
    assert sdk.calls == [
        {"netuid": 5, "weights": {0: 21845, 7: 65535}, "wallet": "validator", "hotkey": "one",
         "network": "test"}
    ]  # fmt: skip
    assert Bittensor(Sdk11(message="in block 812")).set_weights(ORDER) == "in block 812"


def test_version_10_is_given_two_lists_and_its_connection_is_closed() -> None:
    """Lists of the same length, in the order of uids."""
    sdk = Sdk10()
    assert Bittensor(sdk).set_weights(ORDER) == "Success"
    assert sdk.calls == [
        {"netuid": 5, "uids": [0, 7], "weights": [21845, 65535], "wallet": ("validator", "one")}
    ]
    assert [one.closed for one in sdk.connections] == [True]


def test_the_burn_goes_to_the_subnets_owner_or_nothing_is_sent() -> None:
    """Else a miner on uid 0 is paid what should burn."""
    setter = Bittensor(Sdk10())
    require_burn_uid(setter, replace(ORDER, burn_uid=3, payload=WeightsPayload((3, 7), (1, 2))))
    require_burn_uid(setter, replace(ORDER, burn_uid=1))  # nothing burns
    with pytest.raises(Conflict, match=r"uid 0 would be paid .* holds uid 3; score with --set"):
        require_burn_uid(setter, ORDER)
    for netuid in (6, 7):
        with pytest.raises(Conflict, match="holds no uid; send it with --burn-uid-anyway"):
            require_burn_uid(setter, replace(ORDER, netuid=netuid))
    for sdk in (Sdk11(), Sdk10(lost="network")):
        with pytest.raises(Unavailable, match="--burn-uid-anyway sends without asking"):
            require_burn_uid(Bittensor(sdk), ORDER)
    assert all(one.closed for one in setter._sdk.connections)


@pytest.mark.parametrize(
    ("sdk", "kind", "said"),
    [
        (Sdk11(ChainError("hotkey is not registered")), Conflict, "hotkey is not registered"),
        (Sdk11(FileNotFoundError("keyfile at 'one'")), NotFound, "keyfile at 'one'"),
        (Sdk11(TimeoutError()), Unavailable, "TimeoutError"),
        (Sdk10((False, "Perhaps too soon")), Conflict, "Perhaps too soon"),
        (Sdk10((False, None)), Conflict, "rate limit"),
        (Sdk10(lost="key"), NotFound, "does not exist"),
        (Sdk10(lost="network"), Unavailable, "no way to test"),
    ],
)
def test_what_goes_wrong_is_reported_in_the_sdks_words(
    sdk: Any, kind: type[AgonError], said: str
) -> None:
    """A rejection is 4, a missing key 3, an unreachable chain 5; never a silent success."""
    with pytest.raises(kind, match=said):
        Bittensor(sdk).set_weights(ORDER)
    assert all(one.closed for one in getattr(sdk, "connections", []))


def test_without_the_sdk_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message ends in what to do; with it, the way is open."""
    monkeypatch.setitem(sys.modules, "bittensor", None)
    with pytest.raises(Unavailable, match=r"pip install 'agon-engine\[bittensor\]'"):
        open_bittensor()
    sdk: Any = Sdk11()
    monkeypatch.setitem(sys.modules, "bittensor", sdk)
    assert open_bittensor().set_weights(ORDER)
