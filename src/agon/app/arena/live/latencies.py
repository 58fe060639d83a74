"""Summarize how long answers and votes took."""

import math
from collections.abc import Mapping, Sequence

from agon.app.service import Service
from agon.entities.arena import WorkKind
from agon.entities.arena_reports import LatencySummary
from agon.entities.contests import Contest


def latencies(service: Service, contest: Contest) -> list[LatencySummary]:
    """Return the latencies over all participants, then of each; answers before votes."""
    with service.store.read() as session:
        measured = session.arena.latencies(contest.no)
    grouped: dict[tuple[str | None, WorkKind], list[float]] = {}
    for kind, participant, milliseconds in measured:
        for name in (None, participant):
            grouped.setdefault((name, kind), []).append(milliseconds)
    return _summaries(grouped)


def quantile(ascending: Sequence[float], share: float) -> float:
    """Return the smallest value that at least a share of the values do not exceed.

    Example:
        >>> quantile([10.0, 20.0, 30.0, 40.0], 0.5), quantile([10.0, 20.0, 30.0, 40.0], 0.95)
        (20.0, 40.0)
    """
    return ascending[max(math.ceil(share * len(ascending)), 1) - 1]


def _summaries(
    grouped: Mapping[tuple[str | None, WorkKind], list[float]],
) -> list[LatencySummary]:
    rows = []
    for (participant, kind), values in sorted(
        grouped.items(), key=lambda item: (item[0][0] or "", item[0][1])
    ):
        ascending = sorted(values)
        p50, p95, p99 = (round(quantile(ascending, share), 1) for share in (0.5, 0.95, 0.99))
        rows.append(LatencySummary(participant, kind, len(values), p50, p95, p99))
    return rows
