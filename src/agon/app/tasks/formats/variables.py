"""Hand variables of the operator to agents and tests: by name, their values recorded nowhere.

A task may ask for one with ``${NAME}`` or ``${NAME:-text}`` in ``environment.env``,
``verifier.env`` or ``solution.env``, and in ``environment`` of its compose file, where the task's
own variables count as well. It gets what the operator named, and nothing else of the host.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from agon.app.tasks.task import Task, TaskService, TaskSettings
from agon.errors import InvalidRule

TEMPLATE: Final = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, kw_only=True)
class VariableNames:
    """The names of the variables that an operator hands in.

    Attributes:
        both: those for agents and tests.
        agent: those for agents and solutions alone.
        verifier: those for tests alone.
    """

    both: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    verifier: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, list[str]]:
        """Return who gets which, as a run's record has it; empty: no side gets one.

        Example:
            >>> VariableNames(both=("A",), verifier=("B",)).to_dict()
            {'agent': ['A'], 'verifier': ['A', 'B']}
        """
        agent, verifier = sorted({*self.both, *self.agent}), sorted({*self.both, *self.verifier})
        return {"agent": agent, "verifier": verifier} if agent or verifier else {}


def with_variables(
    tasks: Iterable[Task],
    names: VariableNames,
    *,
    environment: Mapping[str, str],
    solutions: bool = True,
) -> tuple[Task, ...]:
    """Return tasks with the variables that are handed in, and their templates filled.

    Args:
        tasks: the tasks.
        names: the variables to hand in.
        environment: the operator's variables.
        solutions: whether the tasks' solutions run; otherwise they need no variable.

    Raises:
        InvalidRule: a variable is not set or has several lines, or a task needs one that is not
            handed in; all of them, by name.
    """
    issues = list(_issues(names, environment))
    by_side = {
        side: {name: environment[name] for name in chosen if name in environment}
        for side, chosen in names.to_dict().items()
    }
    filled = []
    for task in tasks:
        settings, missing = _fill(task.settings, by_side, solutions=solutions)
        known = {**settings.agent_env, **by_side.get("agent", {})}
        services = [_fill_service(one, known) for one in task.files.services]
        missing += [what for _, needs in services for what in needs]
        issues += [f"{task.name}: {what}" for what in missing]
        files = replace(task.files, services=tuple(one for one, _ in services))
        filled.append(replace(task, settings=settings, files=files))
    if issues:
        raise InvalidRule("\n".join(dict.fromkeys(issues)))
    return tuple(filled)


def _issues(names: VariableNames, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong with the names that the operator gave; never a value."""
    for name in dict.fromkeys((*names.both, *names.agent, *names.verifier)):
        if "=" in name:
            yield (
                f"{name.partition('=')[0]}=… has a value; set the variable and give its name "
                "alone, since all users of a machine see command lines"
            )
        elif not _NAME.fullmatch(name):
            yield f"{name!r} is not the name of a variable; give letters, digits and _"
        elif name not in environment:
            yield f"the variable {name} is not set; set it, or leave the option out"
        elif not environment[name].isprintable():
            yield f"the variable {name} has several lines or control characters; give one line"


def _fill_service(service: TaskService, known: Mapping[str, str]) -> tuple[TaskService, list[str]]:
    """Return a service with its variables filled, and what is missing of them."""
    missing: dict[str, None] = {}

    def value(match: re.Match[str]) -> str:
        if match[2] is None and match[1] not in known:
            missing[match[1]] = None
        return known.get(match[1]) or match[2] or ""

    environment = {
        name: TEMPLATE.sub(value, text) if name in service.templates else text
        for name, text in service.environment.items()
    }
    return replace(service, environment=environment, templates=frozenset()), [
        f"the service {service.name} needs the variable {name}; set it and hand it in with "
        f"--agent-env {name}"
        for name in missing
    ]


def _fill(
    settings: TaskSettings, by_side: Mapping[str, Mapping[str, str]], *, solutions: bool
) -> tuple[TaskSettings, list[str]]:
    """Return settings with all variables, and what is missing of them."""
    agent, verifier = by_side.get("agent", {}), by_side.get("verifier", {})
    missing: dict[str, set[str]] = {}

    def fill(table: Mapping[str, str], side: str) -> dict[str, str]:
        known = by_side.get(side, {})

        def value(match: re.Match[str]) -> str:
            if match[2] is None and match[1] not in known:
                missing.setdefault(match[1], set()).add(side)
            return known.get(match[1]) or match[2] or ""

        return {
            name: TEMPLATE.sub(value, text) if name in settings.templates else text
            for name, text in table.items()
        }

    filled = replace(
        settings,
        agent_env={**fill(settings.agent_env, "agent"), **agent},
        verifier_env={**fill(settings.verifier_env, "verifier"), **verifier},
        solution_env=fill(settings.solution_env, "agent") if solutions else {},
        templates=frozenset(),
    )
    return filled, [
        f"the task needs the variable {name}; set it and hand it in with "
        f"--{'env' if len(sides) > 1 else f'{min(sides)}-env'} {name}"
        for name, sides in missing.items()
    ]
