"""Publish a problem in a folder: what is disclosed, and the hidden answer."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Final

from agon.app.dojo.hidden_answer import HiddenAnswer
from agon.app.dojo.lifecycle import disclosure
from agon.app.dojo.problems import Problem
from agon.app.dojo.setter_validation import validate_setter
from agon.app.files import json_page, write_secret
from agon.app.sandbox import Sandbox
from agon.errors import Conflict, NotFound, Unavailable

DISCLOSURE: Final = "disclosure.json"
SEALED: Final = "sealed.json"


def publish(problem: Problem, out: Path, sandbox: Sandbox) -> HiddenAnswer:
    """Write ``disclosure.json`` for everyone and ``sealed.json`` for the organizer only.

    Args:
        problem: the setter's package.
        out: the folder to make; it exists once both files are written.
        sandbox: where the setter runs.

    Raises:
        InvalidSetter: the setter is not valid.
        Conflict, NotFound, Unavailable: the folder cannot be made.
    """
    require_new(out)
    answer = HiddenAnswer(problem, validate_setter(problem, sandbox))
    target = out.absolute()
    try:
        hidden = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name[:100]}-"))
    except OSError as error:
        raise Unavailable(f"{out} cannot be written ({error.strerror or error})") from None
    try:
        write_secret(hidden / SEALED, answer.to_bytes())
        page = {"problem_id": problem.id, **_disclosed_fields(answer)}
        (hidden / DISCLOSURE).write_bytes(json_page(page))
        hidden.chmod(0o777 & ~_umask())
        hidden.replace(target)
    except OSError as error:
        raise Unavailable(f"{out} cannot be written ({error.strerror or error})") from None
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
    return answer


def _disclosed_fields(answer: HiddenAnswer) -> dict[str, Any]:
    return disclosure(answer.package, freeze=answer.problem.freeze_started_at)


def require_new(out: Path) -> None:
    """Reject a folder that could not be made, before any work is done.

    Raises:
        NotFound: its parent is missing.
        Conflict: it exists and is not an empty folder.
    """
    if not out.absolute().parent.is_dir():
        raise NotFound(f"{out.parent}: no such folder; create it first")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Conflict(f"{out} exists already; name a new or an empty folder")


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
