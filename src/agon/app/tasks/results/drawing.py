"""Draw the details of a trial as markup: of a run's own page, and of the site's."""

from collections.abc import Sequence
from itertools import pairwise

from agon.app.charts.markup import element, words
from agon.app.tasks.results.summary_text import MARKS
from agon.entities.trials import TrajectoryStep, TrialPart


def draw_details(parts: Sequence[TrialPart], *, name: str = "") -> str:
    """Return the details of a trial; those of each step of its task are folded.

    Args:
        parts: the trial as a whole, and the steps of its task, if it has steps.
        name: an id for the first paragraph; empty: it has none.
    """
    whole, *steps = parts
    folded = [
        fold(f"{MARKS.get(one.result, '?')} step {one.name} {one.result}", one.reason, _draw(one))
        for one in steps
    ]
    return "".join([_draw(whole, name), *folded])


def fold(title: str, reason: str, content: str) -> str:
    """Return a content that opens below its title and the reason, if there is one."""
    why = f": {reason}" if reason else ""
    return element("details", [element("summary", [words(title + why)]), content])


def _draw(part: TrialPart, name: str = "") -> str:
    place = {"id": name} if name else {}
    drawn = [
        element("p", [words(line)], **({} if number else place))
        for number, line in enumerate(part.facts)
    ]
    drawn += [element("p", [words(f"note: {note}")]) for note in part.notes]
    if part.steps:
        drawn += [element("h3", [words("Steps")]), *_steps(part.steps)]
    for printed in part.printed:
        drawn += [element("h3", [words(printed.name)]), _pre(printed.text)]
    return "".join(drawn)


def _steps(steps: Sequence[TrajectoryStep]) -> list[str]:
    """Return the steps; where some are left out, how many."""
    drawn = [_step(steps[0])]
    for before, step in pairwise(steps):
        if more := step.number - before.number - 1:
            drawn.append(element("p", [words(f"… {more:,} further steps …")]))
        drawn.append(_step(step))
    return drawn


def _step(step: TrajectoryStep) -> str:
    tokens = (
        f" · {step.input_tokens:,} read, {step.output_tokens:,} written"
        if step.input_tokens or step.output_tokens
        else ""
    )
    parts = [element("p", [words(f"{step.number} · {step.source}{tokens}")], class_="step")]
    if step.text.strip():
        parts.append(_pre(step.text))
    parts += [_pre(f"$ {call}") for call in step.calls]
    parts += [_pre(output) for output in step.outputs]
    return "".join(parts)


def _pre(text: str) -> str:
    return element("pre", [words(text)])
