"""The dependencies of every use case: the store, the clock, randomness, keys and limits."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from agon.app.password_hashing import PasswordHashing
from agon.app.replay.replica_cache import ReplicaCache
from agon.app.replay.submission_index import SubmissionIndex
from agon.app.wrong_passwords import WrongPasswords
from agon.entities.judging import ModelUsage
from agon.ledger import signatures
from agon.store.session import Store


@dataclass(frozen=True)
class SigningKey:
    """An Ed25519 private key of 32 bytes, with which an instance signs heads and manifests.

    Example:
        >>> SigningKey(bytes(32)).public_key[:16]
        '3b6a27bcceb6a42d'
    """

    key: bytes = field(repr=False)

    @property
    def public_key(self) -> str:
        """The public key in hex, with which others verify signatures."""
        return signatures.public_key(self.key).hex()

    def sign(self, value: Mapping[str, Any]) -> str:
        """Return the signature (hex) of a value's canonical JSON."""
        return signatures.sign(self.key, value)


@dataclass(frozen=True)
class Service:
    """One instance of agon, as its use cases see it.

    Attributes:
        store: the database.
        clock: returns the time, in UTC.
        new_id: returns a new id that cannot be guessed, safe in URLs.
        signer: signs ledger heads and manifests.
        replicas: the records of contests in this process's memory.
        submission_index: the submissions of contests by user and problem.
        lease_span: how long a worker holds a job without a heartbeat.
        network_key: key of the hashes that are stored instead of network addresses.
        tasks: returns the names of the tasks that challenge submissions are run on.
        snapshots_kept: number of a board's newest snapshots that keep their rows.
        random: returns that many random bytes, for secrets.
        scan_pause: time from one automatic integrity scan to the next; None: no automatic scans.
        check_endpoint: requires that a bot's endpoint (URL, secret) repeats a nonce; it raises
            Unreadable otherwise. None: this instance has no network for bots.
        round_pause: time from one automatic round to the next; None: no automatic rounds.
        model_pause: returns why a model judge cannot be asked at a time, by its use; None: it can.
            None: no model is configured.
        jobs_kept: how long ended jobs are stored; None: permanently.
        wrong_passwords: the wrong passwords that this process was sent.
        passwords: hashes passwords.
        has_model_judge: whether the settings name a model that judges where judges are missing.
        public_url: the address at which visitors reach the service; empty: it is not known.
    """

    store: Store
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    signer: SigningKey
    replicas: ReplicaCache
    submission_index: SubmissionIndex = field(default_factory=SubmissionIndex, repr=False)
    lease_span: timedelta = timedelta(seconds=30)
    network_key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    tasks: Callable[[], tuple[str, ...]] = tuple
    snapshots_kept: int = 20
    random: Callable[[int], bytes] = secrets.token_bytes
    scan_pause: timedelta | None = None
    jobs_kept: timedelta | None = None
    check_endpoint: Callable[[str, bytes], None] | None = None
    round_pause: timedelta | None = None
    model_pause: Callable[[ModelUsage, datetime], str | None] | None = None
    wrong_passwords: WrongPasswords = field(default_factory=WrongPasswords, repr=False)
    passwords: PasswordHashing = field(default_factory=PasswordHashing, repr=False)
    has_model_judge: bool = False
    public_url: str = ""
