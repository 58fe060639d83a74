"""Return the variables with which a task's tests run on what an agent left.

An image's variables can name places that the agent's outputs fill: a folder of programs, a file
that every shell reads first. The agent's programs and settings would then run with the tests.
"""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from string import Template
from typing import Final

from agon.app.containers.home_settings import is_handed_over, within_or_at

HOOKS: Final = frozenset({
    "BASH_ENV", "ENV", "GCONV_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_EXEC_PATH",
    "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "LD_AUDIT", "LD_PRELOAD", "NODE_OPTIONS", "PERL5DB",
    "PERL5OPT", "PYTHONHOME", "PYTHONPLATLIBDIR", "PYTHONSTARTUP", "PYTHONUSERBASE", "RUBYOPT",
    "_JAVA_OPTIONS",
})  # fmt: skip
"""Variables that name files whose code runs in programs that did not ask for it."""
_LIBRARIES: Final = (
    "/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib", "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
)  # fmt: skip
_SEPARATORS: Final = str.maketrans(dict.fromkeys("=,;:\t\n", " "))


def judge_environment(
    variables: Mapping[str, str], outputs: Sequence[str], workdir: str = "/app"
) -> dict[str, str]:
    """Return the variables that the tests get with another value than the image or the task gave.

    Folders of the outputs are searched last for programs and libraries; variables in :data:`HOOKS`
    that name something in the outputs are empty.

    Args:
        variables: those of the image and of the task.
        outputs: the absolute paths that the agent's outputs replace.
        workdir: the folder in which the tests begin.

    Example:
        >>> judge_environment({"PATH": "/app/bin:/bin", "BASH_ENV": "/app/.env"}, ("/app",))
        {'BASH_ENV': '', 'PATH': '/bin:/app/bin'}
        >>> judge_environment({"PATH": "/app/bin:/bin", "BASH_ENV": "/etc/env"}, ("/app/answer",))
        {}
    """
    changed = {
        name: ""
        for name in sorted(HOOKS & set(variables))
        if any(is_of_agent(path, outputs, workdir) for path in _paths(variables[name], variables))
    }
    for name, first in (("PATH", ()), ("LD_LIBRARY_PATH", _LIBRARIES)):
        entries = variables.get(name, "").split(":") if variables.get(name) else []
        of_agent = [entry for entry in entries if is_of_agent(entry, outputs, workdir)]
        if not of_agent:
            continue
        others = [entry for entry in entries if entry not in of_agent]
        value = ":".join((*others, *first, *(entry for entry in of_agent if entry)))
        if value != variables[name]:
            changed[name] = value
    return changed


def is_of_agent(path: str, outputs: Sequence[str], workdir: str = "/app") -> bool:
    """Return whether a path can be something that an agent left.

    Args:
        path: absolute, or relative to the working folder.
        outputs: the absolute paths that the agent's outputs replace.
        workdir: the folder in which the tests begin.

    Example:
        >>> is_of_agent("bin/tool", ("/app",)), is_of_agent("/usr/bin/tool", ("/app",))
        (True, False)
    """
    place = posixpath.normpath(posixpath.join(workdir, path))
    return is_handed_over(place, outputs) and any(
        within_or_at(place, output) or within_or_at(output, place) for output in outputs
    )


def _paths(value: str, variables: Mapping[str, str]) -> Iterator[str]:
    """Yield the paths in a value, with its variables replaced."""
    for word in Template(value).safe_substitute(variables).translate(_SEPARATORS).split():
        if "/" in word or "$" in word or not word.startswith("-"):
            yield word
