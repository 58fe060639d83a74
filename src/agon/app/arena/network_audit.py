"""Check that the draws of a live arena knew which owners share a network, as the records say."""

from collections.abc import Iterator, Mapping
from typing import Any

from agon.networks import network_of


class NetworkCheck:
    """The networks of owners, as the entries that were read record them."""

    def __init__(self) -> None:
        self._networks: dict[str, list[tuple[int, str | None]]] = {}

    def add(self, row: Mapping[str, Any], *, seq: int) -> None:
        """Note the record of an owner."""
        network = row.get("network") or row.get("ip")
        known = None if network is None else network_of(str(network)) or str(network)
        self._networks.setdefault(str(row["id"]), []).append((seq, known))

    def differences(self, inputs: Mapping[str, Any], *, until: int) -> Iterator[str]:
        """Yield owners of a draw that the inputs do not state to share a network.

        Inputs may state more: a judge is known by the network of its latest request, too.

        Args:
            inputs: the recorded inputs of the draw.
            until: the position of the records that the inputs follow from.
        """
        stated = inputs.get("networks", {})
        owners = {inputs.get("owner_id")} if "bot" in inputs else set[str | None]()
        owners |= {each["owner_id"] for each in (*inputs.get("entrants", ()), *inputs["judges"])}
        first: dict[str, str] = {}
        for owner in sorted(owner for owner in owners if owner is not None):
            known = [network for seq, network in self._networks.get(owner, ()) if seq <= until]
            if not known or known[-1] is None:
                continue
            other = first.setdefault(known[-1], owner)
            if other != owner and (owner not in stated or stated[owner] != stated.get(other)):
                yield f"{other} and {owner} share a network, which its inputs do not state"
