"""Link headers of pages."""

from urllib.parse import urlencode

from starlette.requests import Request

from agon.web.data import sent_path


def link(request: Request, **cursors: str | None) -> str | None:
    """Return the Link header, ``<path?query>; rel="next"``; None if there are no cursors.

    The link is the request's path and query: the server does not know the scheme and host that the
    client uses, and a client must not send its token to another host.
    """
    address = sent_path(request.scope)
    parameters = [
        (name, value) for name, value in request.query_params.multi_items() if name != "cursor"
    ]
    parts = [
        f'<{address}?{urlencode([*parameters, ("cursor", cursor)])}>; rel="{name}"'
        for name, cursor in cursors.items()
        if cursor is not None
    ]
    return ", ".join(parts) or None
