"""Hold what every use case of the service works with."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from agon.ledger import signatures
from agon.store.store import Store

if TYPE_CHECKING:
    from agon.app.replay.replica import Lives


class Signer(Protocol):
    """Sign values with the house's Ed25519 key."""

    @property
    def public_key(self) -> str:
        """The public half, in hex: what others check signatures with."""

    def sign(self, value: Mapping[str, Any]) -> str:
        """Return the signature (hex) over a value's canonical JSON."""


@dataclass(frozen=True)
class KeySigner:
    """Sign with a private key of 32 bytes.

    Example:
        >>> KeySigner(bytes(32)).public_key[:16]
        '3b6a27bcceb6a42d'
    """

    key: bytes = field(repr=False)

    @property
    def public_key(self) -> str:
        """The public half, in hex."""
        return signatures.public_key(self.key).hex()

    def sign(self, value: Mapping[str, Any]) -> str:
        """Return the signature (hex) over a value's canonical JSON."""
        return signatures.sign(self.key, value)


@dataclass(frozen=True)
class Service:
    """Hold the store, the clock, the dice and the keys of one house.

    Attributes:
        store: where everything is kept.
        clock: gives the time, in UTC.
        new_id: draws an id that no other has and nobody can guess, safe in addresses.
        signer: signs ledger heads and manifests.
        lives: the contests' records in this process's memory.
        lease_span: how long a worker holds a job without a heartbeat.
        network_key: what addresses are hashed with before they are stored.
        tasks: lists the names of the tasks that challenge submissions are tried on.
        snapshots_kept: so many of the newest snapshots of a board keep their rows.
        random: gives that many random bytes, for secrets.
        look_pause: so long after a look for findings the next one comes by itself; None: never.
        jobs_kept: so long jobs that have ended can be looked at; None: for ever.
    """

    store: Store
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    signer: Signer
    lives: "Lives"
    lease_span: timedelta = timedelta(seconds=30)
    network_key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    tasks: Callable[[], tuple[str, ...]] = tuple
    snapshots_kept: int = 20
    random: Callable[[int], bytes] = secrets.token_bytes
    look_pause: timedelta | None = None
    jobs_kept: timedelta | None = None
