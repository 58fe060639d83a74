"""The data of pages: the address of a page with an ending such as ``.json`` answers them."""

from collections.abc import Mapping, MutableMapping
from typing import Any
from urllib.parse import quote

from starlette.responses import Response
from starlette.types import Receive, Scope, Send


class PageData(Response):
    """The response of the API at an address.

    Args:
        address: in the API.
        form: one of :data:`~agon.web.addresses.FORMATS`.
        headers: those of the page, which the response gets as well.
    """

    def __init__(self, address: str, form: str, *, headers: Mapping[str, str]) -> None:
        super().__init__()
        joint = "&" if "?" in address else "?"
        self._address = address if form == "json" else f"{address}{joint}format={form}"
        self._added = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond with what the API responds."""
        names = {name for name, _ in self._added}

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                others = [pair for pair in message["headers"] if pair[0].lower() not in names]
                message = {**message, "headers": [*others, *self._added]}
            await send(message)

        await scope["agon.data"](self._address, scope, receive, send_with_headers)


def sent_path(scope: Mapping[str, Any]) -> str:
    """Return the path of a request as it was sent, percent-encoded."""
    sent: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
    return sent.decode("latin-1")


def set_format(scope: MutableMapping[str, Any], path: str, form: str) -> None:
    """Set ``scope["agon.format"]`` of a request for an address with an ending.

    Addresses of pages of an id that ends like a format, as ``ada.json`` does, have ``%2E`` for its
    dot. The parameter of such a path gets its ending back, and there is no format.

    Args:
        scope: of the request.
        path: the pattern of the page.
        form: the ending.
    """
    ending, parameters = f".{form}", scope["path_params"]
    if sent_path(scope).endswith(ending) or not path.endswith("}"):
        scope["agon.format"] = form
    else:
        name = path.rpartition("{")[2][:-1]
        scope["path_params"] = {**parameters, name: parameters[name] + ending}
