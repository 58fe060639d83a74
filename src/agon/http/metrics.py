"""Count what the server does, for Prometheus."""

import os
from collections.abc import Iterator, Sequence
from typing import Any, Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector

from agon.app.arena.live.protections import arenas_off, degraded_rounds
from agon.app.service import Service
from agon.entities.judging import JudgeCount, JudgeFailure, ModelUsage

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_MAX_CONTESTS: Final = 1000


class Metrics:
    """Counts requests of this process; reads the queue and the ledgers for each scrape.

    With several processes (``PROMETHEUS_MULTIPROC_DIR`` is set) each reports the sum of all.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._own = CollectorRegistry()
        self._requests = Counter(
            "agon_http_requests",
            "Requests answered.",
            ["method", "route", "status"],
            registry=self._own,
        )
        self._seconds = Histogram(
            "agon_http_request_seconds",
            "Time from a request's head to the end of its answer.",
            ["method", "route"],
            buckets=_BUCKETS,
            registry=self._own,
        )

    def count_response(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a response under its route's template, never under the requested path."""
        known_method = method if method in _METHODS else "other"
        self._requests.labels(known_method, route, str(status)).inc()
        self._seconds.labels(known_method, route).observe(seconds)

    def text(self) -> bytes:
        """Return everything in Prometheus's text form."""
        shared = CollectorRegistry()
        shared.register(_ServiceCollector(self._service))
        counted = self._own
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            counted = CollectorRegistry()
            MultiProcessCollector(counted)  # type: ignore[no-untyped-call]  # theirs has no types
        return bytes(generate_latest(counted) + generate_latest(shared))


_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class _ServiceCollector:
    """Collects gauges of the whole service, the same in every process."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterator[Any]:
        """Yield gauges of the queue and of every ledger's length."""
        jobs = GaugeMetricFamily("agon_jobs", "Jobs by kind and state.", labels=["kind", "state"])
        entries = GaugeMetricFamily(
            "agon_ledger_entries", "Entries in a contest's ledger.", labels=["contest"]
        )
        degraded = GaugeMetricFamily(
            "agon_arena_degraded_rounds",
            "Rounds among the latest of an arena in which no bot could be reached.",
            labels=["contest"],
        )
        paused = GaugeMetricFamily("agon_queue_paused", "Whether the queue is paused.")
        with self._service.store.read() as session:
            for (kind, state), count in sorted(session.queue.counts().items()):
                jobs.add_metric([kind, state], count)
            paused.add_metric([], float(session.queue.is_paused()))
            for contest in session.contests.page(limit=_MAX_CONTESTS):
                entries.add_metric([contest.id], contest.seq)
            for contest, count in degraded_rounds(session):
                degraded.add_metric([contest.id], count)
            usages, counts = session.judging.usages(), session.judging.counts()
            failed = session.judging.failures()
        disabled = GaugeMetricFamily(
            "agon_arena_protection_off", "Protections of live arenas that do not work now: 1 each.",
            labels=["contest", "protection", "rule"],
        )  # fmt: skip
        for contest, each in arenas_off(self._service):
            disabled.add_metric([contest.id, each.name, each.rule], 1)
        yield from (
            jobs,
            paused,
            entries,
            degraded,
            disabled,
            *_judge_gauges(usages, counts, failed),
        )


def _judge_gauges(
    usages: Sequence[ModelUsage], counts: Sequence[JudgeCount], failed: Sequence[JudgeFailure]
) -> Iterator[Any]:
    """Return gauges of model judges: their use today, failures, measurements."""
    used = GaugeMetricFamily(
        "agon_model_judge_usage", "Calls and tokens on the day of the last call.",
        labels=["judge", "unit"],
    )  # fmt: skip
    failures = GaugeMetricFamily(
        "agon_model_judge_failures", "Failed calls since the last that succeeded.", labels=["judge"]
    )
    for usage in usages:
        used.add_metric([usage.judge, "calls"], usage.calls)
        used.add_metric([usage.judge, "tokens"], usage.tokens)
        failures.add_metric([usage.judge], usage.failures)
    measured = GaugeMetricFamily(
        "agon_model_judge_measure", "Successes and trials of each measure of a model judge.",
        labels=["judge", "measure", "count"],
    )  # fmt: skip
    for count in counts:
        measured.add_metric([count.judge, count.measure, "successes"], count.successes)
        measured.add_metric([count.judge, count.measure, "trials"], count.trials)
    reasons = GaugeMetricFamily(
        "agon_model_judge_failed_calls", "Failed calls of a model judge by reason.",
        labels=["judge", "reason"],
    )  # fmt: skip
    for failure in failed:
        reasons.add_metric([failure.judge, failure.code], failure.calls)
    return iter((used, failures, measured, reasons))
