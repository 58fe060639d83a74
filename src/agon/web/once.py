"""Do what a form asks for once, also when it is sent twice."""

import hashlib
import time
from collections.abc import Callable
from datetime import timedelta
from http import HTTPStatus
from typing import Final, TypeAlias

from agon.entities.access import StoredResponse
from agon.errors import Conflict
from agon.web.page import Document, Redirect, SitePage, Visit

Result: TypeAlias = SitePage | Redirect | Document

FIELD: Final = "once"
"""The field with an id of the form, which each load of a page sets."""

_WAIT_S: Final = 5.0
_PAUSE_S: Final = 0.05
_LOST_AFTER: Final = timedelta(minutes=10)
_CHUNK: Final = 1 << 18


def once(visit: Visit, path: str, action: Callable[[], Result]) -> Result:
    """Return the result of a form's action; a repetition gets that of the first.

    A form that was changed in the meantime is another one, and so is one that had an error.

    Raises:
        Conflict: the first still runs, or its page showed a secret.
    """
    if not visit.form.get(FIELD):
        return action()
    request = StoredResponse(
        caller=f"site:{visit.caller.name}"[:200],
        key=f"form:{_digest(visit, path).hex()}",
        request_sha256=bytes(32),
        status=0,
        headers={},
        body=b"",
        at=visit.service.clock(),
    )
    until = time.monotonic() + _WAIT_S
    while not _reserve(visit, request):
        if (first := _first_result(visit, request)) is not None:
            return first
        if time.monotonic() > until:
            raise Conflict("this form was sent twice, and the first one is not done; load the page")
        time.sleep(_PAUSE_S)
    saved = False
    try:
        result = action()
        if not isinstance(result, SitePage) or result.status == HTTPStatus.OK:
            _save(visit, request, result)
            saved = True
        return result
    finally:
        if not saved:
            with visit.service.store.write() as session:
                session.access.delete_pending_response(request.caller, request.key)


def _reserve(visit: Visit, request: StoredResponse) -> bool:
    with visit.service.store.write() as session:
        return session.access.add_response(request) or session.access.take_over_response(
            request, lost_before=request.at - _LOST_AFTER
        )


def _save(visit: Visit, request: StoredResponse, result: Result) -> None:
    is_redirect = isinstance(result, Redirect)
    status = HTTPStatus.SEE_OTHER if is_redirect else HTTPStatus.OK
    headers = {"location": result.address} if isinstance(result, Redirect) else {}
    stored = StoredResponse(
        caller=request.caller,
        key=request.key,
        request_sha256=request.request_sha256,
        status=status,
        headers=headers,
        body=b"",
        at=request.at,
    )
    with visit.service.store.write() as session:
        session.access.save_response(stored)


def _first_result(visit: Visit, request: StoredResponse) -> Redirect | None:
    """Return where the first of two equal forms led; None: it still runs, or had an error.

    Raises:
        Conflict: its page showed a secret.
    """
    with visit.service.store.read() as session:
        first = session.access.response(request.caller, request.key)
    if first is None or not first.status:
        return None
    if "location" in first.headers:
        return Redirect(address=first.headers["location"])
    raise Conflict(
        "this form was sent twice and did its work once; a secret that the first page showed is "
        "not shown again: if it is lost, revoke what was created"
    )


def _digest(visit: Visit, path: str) -> bytes:
    """Hash what makes two forms equal: address, fields, files."""
    digest = hashlib.sha256()
    fields = {name: value for name, value in visit.form.items() if name != "form_token"}
    for part in (path, *(text for pair in sorted(fields.items()) for text in pair)):
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    for _, file in visit.files.values():
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
        file.seek(0)
    return digest.digest()
