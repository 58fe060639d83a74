"""Link headers of pages."""

from urllib.parse import quote, urlencode

from starlette.requests import Request


def link(request: Request, **cursors: str | None) -> str | None:
    """Write the Link header: ``<address>; rel="next"``; None when there is nowhere to go.

    The address is the one that was asked, from its path on: which scheme and host a client sees,
    only the client knows, and a token must not follow a link to another.
    """
    address = quote(request.scope["path"])
    given = [
        (name, value) for name, value in request.query_params.multi_items() if name != "cursor"
    ]
    parts = [
        f'<{address}?{urlencode([*given, ("cursor", cursor)])}>; rel="{name}"'
        for name, cursor in cursors.items()
        if cursor is not None
    ]
    return ", ".join(parts) or None
