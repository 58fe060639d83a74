"""Run a simulated league from its registration to its last round."""

from collections.abc import Callable
from typing import Final

from agon.client.league.league import League, PlayedRound
from agon.client.league.processes import participant_processes

_PER_PROCESS: Final = 64
_MAX_PROCESSES: Final = 4


def run(
    league: League, *, matches: int, token: str | None, report: Callable[[PlayedRound], object]
) -> list[PlayedRound]:
    """Return the rounds that were played; the processes of the bots end with the last one.

    Args:
        league: the population, and where it plays.
        matches: number of matches after which no further round begins.
        token: the token that bots without an endpoint ask for work with.
        report: called after each round.

    Raises:
        Conflict: the contest cannot be used, or a round cannot begin.
        Unavailable: the server cannot be reached, or a round takes too long.
    """
    league.open_contest()
    bots = len(league.population.strengths)
    with participant_processes(process_count(bots), league.common_input(token)) as processes:
        league.register(processes)
        return league.play(matches, report=report)


def process_count(bots: int) -> int:
    """Return the number of processes that so many bots run in."""
    return min(_MAX_PROCESSES, -(-bots // _PER_PROCESS))
