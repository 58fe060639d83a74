"""Run the steps of an arena's rounds."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agon.app.arena.live.network.ports import ArenaPorts
from agon.app.arena.live.rounds import advance, play
from agon.app.garbage import gc_paused
from agon.app.queue.leases import Commit
from agon.app.queue.source import Assignment, JobProgress
from agon.entities.jobs import Job
from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service


def play_round(
    service: "Service", ports: ArenaPorts
) -> Callable[[Assignment, JobProgress], Mapping[str, Any]]:
    """Return the function that does the input and output of a round's step."""
    return play(service, ports)


def store_round(service: "Service", job: Job, outcome: Mapping[str, Any]) -> Commit:
    """Return the function that moves the round on."""

    def finish(session: Session) -> Mapping[str, Any]:
        with gc_paused():
            return advance(service, session, job.payload, outcome, by=job.by)

    return finish
