"""Return the variables of a task's tests, with the folder of the modules that agon adds."""

from collections.abc import Sequence
from typing import Final

from agon.app.containers import Image
from agon.app.containers.judge_environment import is_of_agent, judge_environment
from agon.runners.containers.first_process import PRIVATE

MODULES: Final = f"{PRIVATE}/python"
"""The folder of the modules that Python loads at its start (:mod:`inside.sitecustomize`)."""


def variables_of_tests(
    image: Image, outputs: Sequence[str], environment: Sequence[tuple[str, str]]
) -> tuple[tuple[str, str], ...]:
    """Return the variables of the tests: the task's, and those that must differ from the image's.

    The Python of the tests prefers installed modules (:mod:`inside.sitecustomize`), and does not
    begin with what a program has put into the user's folder of modules.
    """
    variables = {**dict(image.environment), **dict(environment)}
    entries = [entry for entry in variables.get("PYTHONPATH", "").split(":") if entry]
    of_agent = [entry for entry in entries if is_of_agent(entry, outputs, image.workdir)]
    installed = [entry for entry in entries if entry not in of_agent]
    return tuple(
        {
            **dict(environment),
            **judge_environment(variables, outputs, image.workdir),
            "PYTHONPATH": ":".join((MODULES, *installed)),
            "PYTHONNOUSERSITE": "1",
            "AGON_PYTHONPATH": ":".join(of_agent),
            "AGON_OUTPUTS": ":".join(outputs),
        }.items()
    )
