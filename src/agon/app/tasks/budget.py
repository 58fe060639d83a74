"""Limit what all trials of a run may use together: tokens, and US dollars."""

from collections.abc import Iterable
from dataclasses import dataclass

from agon.app.tasks.agents import Usage
from agon.app.tasks.trials import TrialResult

_FREE = frozenset({"oracle", "nop", "cheat"})


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The limits of a run; None: there is none.

    No trial starts once a limit is reached; trials that have begun end, and count.

    Attributes:
        cost_usd: US dollars.
        tokens: tokens read and written.
    """

    cost_usd: float | None = None
    tokens: int | None = None

    def end(self, results: Iterable[TrialResult], *, kind: str) -> str:
        """Return why no further trial may start; empty: one may.

        A trial whose use is not known ends a run as well: its limit would limit nothing.

        Args:
            results: all trials with a result.
            kind: the kind of the agent.

        Example:
            >>> Budget(tokens=5).end((), kind="openai")
            ''
        """
        if (self.cost_usd is None and self.tokens is None) or kind in _FREE:
            return ""
        total = Usage()
        for result in results:
            used = result.usage
            if used is None and result.scored:
                return (
                    f"what {result.task}__{result.number} used is not known: the agent left no "
                    "/logs/agent/trajectory.json, or ran out of time"
                )
            if used is None:
                continue
            if self.cost_usd is not None and used.cost_usd is None:
                return (
                    f"what {result.task}__{result.number} cost is not known; give the model's "
                    "price with --prices or --price"
                )
            total = total.plus(used)
        tokens, cost = total.input_tokens + total.output_tokens, total.cost_usd or 0.0
        if self.tokens is not None and tokens >= self.tokens:
            return f"{tokens:,} tokens are used, of {self.tokens:,}"
        if self.cost_usd is not None and cost >= self.cost_usd:
            return f"{cost:.4f} USD are spent, of {self.cost_usd:.4f}"
        return ""
