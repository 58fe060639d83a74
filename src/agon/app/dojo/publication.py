"""Publish a problem: check its package, let its setter through the gate, disclose and seal."""

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from agon.app.dojo.problems import Problem
from agon.app.dojo.sealed_answers import Sealed
from agon.app.dojo.setter_check import pass_gate
from agon.app.files import json_page, write_secret
from agon.app.sandbox import Sandbox
from agon.errors import Conflict, NotFound, Unavailable

DISCLOSURE: Final = "disclosure.json"
SEALED: Final = "sealed.json"
DISCLOSED = 50
"""Terms that are published: a_1, a_3, …, a_99 (``dojo.md``)."""


def disclosure(problem: Problem, terms: tuple[str, ...]) -> dict[str, Any]:
    r"""Return what solvers get to see: the first fifty terms of odd index, and the ``P_hash``.

    Neither the setter's source nor any other term is in it. A sequence of fewer than 99 terms
    discloses the odd ones it has.

    Example:
        >>> source = b"def seq(n):\n    return n * n\n"
        >>> problem = Problem(source=source, interface="seq", n_check=5)
        >>> disclosure(problem, ("1", "4", "9", "16", "25"))["disclosed"]
        [{'n': 1, 'a': '1'}, {'n': 3, 'a': '9'}, {'n': 5, 'a': '25'}]
    """
    declared = problem.declared()
    return {
        "problem_id": problem.id,
        "title": declared["title"],
        "N_check": declared["N_check"],
        "interface": declared["interface"],
        "setter_user_id": declared["setter_user_id"],
        "freeze_started_at": declared["freeze_started_at"],
        "disclosed": disclosed(terms),
    }


def disclosed(terms: Sequence[str]) -> list[dict[str, Any]]:
    """Return the first fifty terms of odd index: a_1, a_3, …, a_99, as far as there are.

    Example:
        >>> disclosed(["1", "4", "9", "16"])
        [{'n': 1, 'a': '1'}, {'n': 3, 'a': '9'}]
    """
    return [{"n": n, "a": terms[n - 1]} for n in range(1, min(2 * DISCLOSED, len(terms) + 1), 2)]


def publish(problem: Problem, out: Path, sandbox: Sandbox) -> Sealed:
    """Write ``disclosure.json`` for everybody and ``sealed.json`` for the organiser alone.

    Args:
        problem: the setter's package.
        out: the folder to make; it appears when both files are written.
        sandbox: where the setter runs.

    Raises:
        GateRefused: the setter does not pass its gate.
        Conflict, NotFound, Unavailable: the folder cannot be made.
    """
    expect_new(out)
    sealed = Sealed(problem, pass_gate(problem, sandbox))
    target = out.absolute()
    try:
        hidden = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name[:100]}-"))
    except OSError as error:
        raise Unavailable(f"{out} cannot be written ({error.strerror or error})") from None
    try:
        write_secret(hidden / SEALED, sealed.to_bytes())
        (hidden / DISCLOSURE).write_bytes(json_page(disclosure(problem, sealed.terms)))
        hidden.chmod(0o777 & ~_umask())
        hidden.replace(target)
    except OSError as error:
        raise Unavailable(f"{out} cannot be written ({error.strerror or error})") from None
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
    return sealed


def expect_new(out: Path) -> None:
    """Refuse a folder that could not be made, before any work is done.

    Raises:
        NotFound: its parent is missing.
        Conflict: it is there and not an empty folder.
    """
    if not out.absolute().parent.is_dir():
        raise NotFound(f"{out.parent}: no such folder; make it first")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Conflict(f"{out} is there already; name a new or an empty folder")


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
