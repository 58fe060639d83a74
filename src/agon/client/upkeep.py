"""Say what a house does for those who look after it: cases, users, tokens, jobs, webhooks.

What :mod:`agon.client.ports` says of errors holds here as well.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from agon.app.access.tokens import Grant
from agon.client.values import (
    CaseTold,
    DeliveryTold,
    JobTold,
    QueueTold,
    TokenTold,
    UserTold,
    WebhookTold,
)
from agon.entities.jobs import JobState


class Cases(Protocol):
    """Look into findings and disputes: people decide, and every step is kept."""

    def list(self, contest: str) -> Iterator[CaseTold]:
        """Yield a contest's cases, oldest first."""

    def get(self, contest: str, case: str) -> CaseTold:
        """Return a case with all its steps."""

    def open(
        self,
        contest: str,
        *,
        text: str,
        title: str | None = None,
        subjects: Sequence[str] = (),
        finding: int | None = None,
    ) -> CaseTold:
        """Open a case, from a finding of the last look (its place, from 0) or by hand."""

    def note(self, contest: str, case: str, *, text: str) -> CaseTold:
        """Add a note; Conflict when the case is closed."""

    def decide(
        self, contest: str, case: str, *, decision: str, reason: str, change: str | None = None
    ) -> CaseTold:
        """Decide a case, which is an entry of the ledger and changes no score by itself.

        Args:
            contest: the contest.
            case: the case.
            decision: what is decided, in few words.
            reason: why.
            change: the change set by which it takes effect, if it does.
        """

    def appeal(self, contest: str, case: str, *, text: str) -> CaseTold:
        """Appeal against a decision: by those it is about, or by an organiser for them."""

    def close(self, contest: str, case: str, *, text: str) -> CaseTold:
        """Close a case; nothing is added to it any more."""


class Access(Protocol):
    """Look after users and tokens."""

    def users(self) -> Iterator[UserTold]:
        """Yield all users in id order."""

    def create_user(self, user: str, *, name: str = "", password: str | None = None) -> UserTold:
        """Create a user; Conflict when the id is taken."""

    def disable_user(self, user: str, *, disabled: bool = True) -> UserTold:
        """Disable a user, so that all tokens open nothing, or enable one again."""

    def tokens(self, *, user: str | None = None) -> Iterator[TokenTold]:
        """Yield tokens, without their secrets."""

    def create_token(self, grant: Grant) -> tuple[TokenTold, str]:
        """Create a token; its text comes this once."""

    def revoke_token(self, token: str) -> TokenTold:
        """Revoke a token at once and for good."""


class Jobs(Protocol):
    """Look after jobs and the queue."""

    def list(
        self, *, contest: str | None = None, state: JobState | None = None
    ) -> Iterator[JobTold]:
        """Yield jobs, newest first."""

    def get(self, job: str) -> JobTold:
        """Return a job."""

    def cancel(self, job: str) -> JobTold:
        """Cancel a job; Conflict when it has ended."""

    def retry(self, job: str) -> JobTold:
        """Queue a job that failed or was cancelled once more."""

    def queue(self) -> QueueTold:
        """Return how the queue is."""

    def pause(self, *, paused: bool = True) -> QueueTold:
        """Let nothing more be claimed, or (False) go on."""


class Webhooks(Protocol):
    """Say where a contest's events are sent."""

    def list(self, contest: str) -> list[WebhookTold]:
        """Return a contest's webhooks in order of creation."""

    def add(
        self, contest: str, url: str, *, events: Sequence[str] = (), staff: bool = True
    ) -> tuple[WebhookTold, str]:
        """Add a webhook; return it with its secret, which comes this once.

        Args:
            contest: the contest.
            url: where to; https, and no address of a private network.
            events: kinds of events; empty: all.
            staff: whether events for organisers alone are sent too.

        Raises:
            Unreadable: the URL is none to send to.
            Conflict: the contest has too many already.
        """

    def change(
        self,
        contest: str,
        webhook: str,
        *,
        active: bool | None = None,
        events: Sequence[str] | None = None,
    ) -> WebhookTold:
        """Change what is given of a webhook."""

    def remove(self, contest: str, webhook: str) -> None:
        """Remove a webhook and the log of its deliveries."""

    def deliveries(self, contest: str, webhook: str) -> Iterator[DeliveryTold]:
        """Yield a webhook's deliveries, newest first."""

    def send_test(self, contest: str, webhook: str) -> DeliveryTold:
        """Send an event of kind ``webhook-tested``; Conflict when the webhook is switched off."""

    def redeliver(self, contest: str, webhook: str, delivery: str) -> DeliveryTold:
        """Send an event once more, as a new delivery.

        Raises:
            Conflict: the webhook is switched off, or the delivery is still under way.
        """
