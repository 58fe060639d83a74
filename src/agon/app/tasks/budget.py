"""Limit what all trials of a run may use together: tokens, and US dollars."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from threading import Lock

from agon.app.tasks.agents import Agent, AgentEnvironment, AgentWork, Usage
from agon.app.tasks.task import Task
from agon.app.tasks.trials import TrialResult

_FREE = frozenset({"oracle", "nop", "cheat"})


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The limits of a run; None: there is none.

    Attributes:
        cost_usd: US dollars.
        tokens: tokens read and written.
    """

    cost_usd: float | None = None
    tokens: int | None = None

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit."""
        return self.cost_usd is not None or self.tokens is not None

    def limit_reached_by(self, used: Usage) -> str:
        """Return which limit a usage reaches; empty: none.

        Example:
            >>> Budget(tokens=300).limit_reached_by(Usage(input_tokens=280, output_tokens=45))
            '325 tokens are used, of 300'
        """
        tokens, cost = _tokens(used), used.cost_usd or 0.0
        if self.tokens is not None and tokens >= self.tokens:
            return f"{tokens:,} tokens are used, of {self.tokens:,}"
        if self.cost_usd is not None and cost >= self.cost_usd:
            return f"{cost:.4f} USD are spent, of {self.cost_usd:.4f}"
        return ""


class Spending:
    """What the trials of a run have used so far, and why no more may be used.

    Once a limit is reached no trial starts, and an agent that calls its model from the host ends
    after the call. So does a run in which a usage is not known: its limit would limit nothing. Its
    methods may be called from any thread.

    Args:
        budget: the limits.
        kind: the kind of the agent.
        results: the trials that have a result already.
    """

    def __init__(self, budget: Budget, *, kind: str, results: Iterable[TrialResult]) -> None:
        self._budget = budget
        self._is_limited = budget.is_limited and kind not in _FREE
        self._results = {(one.task, one.number): one for one in results}
        self._calls: dict[tuple[str, int, int], Usage] = {}
        self._lock = Lock()
        self._end = ""

    @property
    def end(self) -> str:
        """Why no trial may start, nor call its model again; empty: they may."""
        with self._lock:
            if self._is_limited and not self._end:
                self._end = self._unknown() or self._budget.limit_reached_by(self._total())
            return self._end

    def add_call(self, task: str, number: int, attempt: int, used: Usage) -> str:
        """Add what one call of a model used; return why the agent must end, if it must."""
        key = task, number, attempt
        with self._lock:
            self._calls[key] = total_usage((self._calls.get(key), used)) or used
            reports_nothing = used.cost_usd is None and not _tokens(used)
            if self._is_limited and not self._end and reports_nothing:
                self._end = f"what {task}__{number} used is not known: the endpoint reports nothing"
        return self.end

    def calls(self, task: str, number: int, attempt: int) -> Usage | None:
        """Return what the calls of an attempt used; None: there was none."""
        with self._lock:
            return self._calls.get((task, number, attempt))

    def finish(self, result: TrialResult) -> None:
        """Take a trial's result, whose usage is that of all its attempts."""
        with self._lock:
            self._results[result.task, result.number] = result
            for key in [key for key in self._calls if key[:2] == (result.task, result.number)]:
                del self._calls[key]

    def _unknown(self) -> str:
        """Return which trial's usage is not known; empty: all are."""
        used = [(f"{task}__{number}", one) for (task, number, _), one in self._calls.items()]
        for (task, number), result in self._results.items():
            if result.usage is not None:
                used.append((f"{task}__{number}", result.usage))
            elif result.scored:
                return (
                    f"what {task}__{number} used is not known: the agent left no "
                    "/logs/agent/trajectory.json, or ran out of time"
                )
        for name, one in used:
            has_worked = one.steps or _tokens(one)
            if self._budget.cost_usd is not None and one.cost_usd is None and has_worked:
                return (
                    f"what {name} cost is not known; give the model's price with --prices or "
                    "--price"
                )
        return ""

    def _total(self) -> Usage:
        finished = (one.usage for one in self._results.values())
        return total_usage((*finished, *self._calls.values())) or Usage()


class CountedAgent:
    """An agent whose calls of a model are counted as they happen.

    Args:
        agent: the agent.
        end: see :attr:`AgentEnvironment.end`.
        count: see :attr:`AgentEnvironment.count`.
    """

    def __init__(
        self, agent: Agent, *, end: Callable[[], str], count: Callable[[Usage], str]
    ) -> None:
        self._agent = agent
        self._end = end
        self._count = count

    @property
    def name(self) -> str:
        """The agent's name."""
        return self._agent.name

    @property
    def settings(self) -> Mapping[str, str]:
        """The agent's settings."""
        return self._agent.settings

    def missing_for(self, task: Task) -> str:
        """Return which requirements of a task the agent does not meet."""
        return self._agent.missing_for(task)

    def work(self, task: Task, place: AgentEnvironment) -> AgentWork:
        """Let the agent work, in an environment that counts."""
        return self._agent.work(task, replace(place, end=self._end, count=self._count))


def total_usage(used: Iterable[Usage | None]) -> Usage | None:
    """Return the sum of usages; None if none is known.

    Example:
        >>> total_usage([None, Usage(steps=1), Usage(steps=2)]).steps
        3
    """
    known = [one for one in used if one is not None]
    return reduce(Usage.plus, known) if known else None


def _tokens(used: Usage) -> int:
    return used.input_tokens + used.output_tokens
