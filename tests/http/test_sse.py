"""Event streams end when the caller loses access."""

import asyncio
from pathlib import Path

from agon.app.access.tokens import Grant, authenticate, create_token
from agon.app.access.users import create_user, disable_user
from agon.app.contests.lifecycle import creation
from agon.http.sse import Listener, Streams
from fakes.service import OPERATOR, ORGANISER, service_at


def test_a_stream_of_a_disabled_user_ends(tmp_path: Path) -> None:
    """Disabling a user must also end open connections."""
    service = service_at(tmp_path)
    create_user(service, user="ada", by=OPERATOR)
    token, text = create_token(service, Grant(user="ada", role="organiser"), by=OPERATOR)
    creation.create(
        service, creation.NewContest(id="spring", discipline="community", title="S"), by=ORGANISER
    )
    listener = Listener(
        contest="spring", caller=authenticate(service, text), token=token.id, since=0
    )

    async def listened() -> tuple[bytes, list[bytes]]:
        streams = Streams(service, most=9, per_address=9, keepalive=0.01, poll=0.01, lifetime=30)
        leave = streams.admit(None)
        events = streams.events(listener)
        first = [await anext(events), await anext(events)]
        disable_user(service, user="ada", by=OPERATOR)
        rest = [event async for event in events if not event.startswith(b":")]
        leave()
        return first[1], rest

    first, rest = asyncio.run(asyncio.wait_for(listened(), 100))
    service.store.close()
    assert b"event: contest-created" in first
    assert rest == []
