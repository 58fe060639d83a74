"""Answer HEAD requests: the status and the headers of the GET request, without its body."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadMiddleware:
    """Passes a HEAD request on as a GET request and sends its response without the body.

    A response in chunks ends after its headers: the application then sees a client that left.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        ended = asyncio.Event()
        is_read = False

        async def read() -> Message:
            nonlocal is_read
            if not is_read:
                is_read = True
                return {"type": "http.request", "body": b"", "more_body": False}
            await ended.wait()
            return {"type": "http.disconnect"}

        async def send_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                ended.set()

        await self.app({**scope, "method": "GET", "agon.method": "HEAD"}, read, send_headers)
