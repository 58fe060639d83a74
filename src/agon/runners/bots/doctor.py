"""Check an endpoint of a bot: what an arena will send, and what a bot must reject."""

import secrets as tokens
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

import orjson

from agon.app.webhooks.signatures import SECRET_BYTES, TOLERANCE
from agon.disciplines.arena.rounds.faults import Fault
from agon.runners.bots.http import BotResponse, HttpBots, signing_headers
from agon.runners.bots.replies import read_reply

PROTOCOL: Final = "agon-arena-1"
_LIMIT: Final = 40
_PROMPT: Final = "Describe, in one sentence, the weather you like best, and why. 🌦"


@dataclass(frozen=True)
class EndpointCheck:
    """The result of one check.

    Attributes:
        name: what was checked.
        result: ``note`` where the bot may do either, ``skipped`` where it could not be checked.
        detail: what happened.
    """

    name: str
    result: Literal["ok", "failed", "note", "skipped"]
    detail: str


class Examination:
    """The checks of one endpoint, each with requests of its own."""

    def __init__(self, url: str, secret: bytes | None, *, bots: HttpBots, seconds: float) -> None:
        """Store what the checks share.

        Args:
            url: the endpoint.
            secret: its secret; without it, the checks of signatures are skipped.
            bots: the transport.
            seconds: the time limit of each request.
        """
        self._url = url
        self._secret = secret
        self._bots = bots
        self._seconds = seconds

    def checks(self) -> Iterator[EndpointCheck]:
        """Yield the result of each check; without a connection only the first."""
        ping = self._ping()
        yield ping
        if ping.result == "failed":
            return
        yield self._tls()
        yield from self._signatures()
        yield from self._answer()
        yield self._vote()

    def _ping(self) -> EndpointCheck:
        nonce = tokens.token_hex(8)
        reply = self._ask("ping", nonce=nonce)
        if isinstance(reply, Fault):
            hint = "; give --secret-file" if self._secret is None and _is_rejection(reply) else ""
            return EndpointCheck("ping", "failed", _describe(reply) + hint)
        if reply.nonce != nonce:
            return EndpointCheck(
                "ping", "failed", "the nonce was not returned; return {'nonce': …}"
            )
        return EndpointCheck("ping", "ok", f"the nonce came back in {reply.latency_ms:.0f} ms")

    def _tls(self) -> EndpointCheck:
        if self._url.startswith("https:"):
            return EndpointCheck("tls", "ok", "the certificate is valid for the name")
        return EndpointCheck("tls", "note", "plain http; an arena on the internet needs https")

    def _signatures(self) -> Iterator[EndpointCheck]:
        """Yield the checks of signatures: one is valid, four are to be rejected."""
        names = ("replayed", "late", "altered", "foreign")
        if self._secret is None:
            for name in ("valid", *names):
                yield EndpointCheck(f"{name} signature", "skipped", "give --secret-file")
            return
        work = _work("answer")
        body, now = orjson.dumps(work), datetime.now(UTC)
        headers = self._sign(self._secret, work, body, now)
        valid = self._post(headers, body)
        result: Literal["ok", "failed"] = "ok" if isinstance(valid, BotResponse) else "failed"
        yield EndpointCheck("valid signature", result, _outcome(valid))
        old = self._sign(self._secret, work, body, now - 2 * TOLERANCE - timedelta(seconds=1))
        foreign = self._sign(tokens.token_bytes(SECRET_BYTES), work, body, now)
        other = orjson.dumps({**work, "prompt": "Another prompt?"})
        fresh = self._sign(self._secret, {**work, "id": f"{work['id']}-2"}, body, now)
        requests = ((headers, body), (old, body), (fresh, other), (foreign, body))
        for name, (sent, content) in zip(names, requests, strict=True):
            outcome = self._post(sent, content)
            if isinstance(outcome, Fault) and _is_rejection(outcome):
                status = outcome.code.removeprefix("status-")
                yield EndpointCheck(f"{name} signature", "ok", f"rejected with status {status}")
            else:
                yield EndpointCheck(
                    f"{name} signature", "failed", f"{_outcome(outcome)}; answer 401"
                )

    def _answer(self) -> Iterator[EndpointCheck]:
        reply = self._ask("answer", future_field=[1])
        if isinstance(reply, Fault):
            yield EndpointCheck("answer", "failed", _describe(reply))
            return
        text = reply.text or ""
        yield EndpointCheck("answer", "ok", f"{len(text)} characters in {reply.latency_ms:.0f} ms")
        limited = self._ask("answer", max_chars=_LIMIT)
        if isinstance(limited, Fault):
            yield EndpointCheck("length", "failed", _describe(limited))
        elif len(limited.text or "") > _LIMIT:
            yield EndpointCheck(
                "length", "note", f"over max_chars = {_LIMIT}; the answer will be cut"
            )
        else:
            yield EndpointCheck("length", "ok", f"within max_chars = {_LIMIT}")

    def _vote(self) -> EndpointCheck:
        reply = self._ask("vote", answers={"A": "Rain, I guess.", "B": "As an AI, I like all."})
        if isinstance(reply, Fault):
            return EndpointCheck("vote", "note", f"{_describe(reply)}; needed for bots that judge")
        if reply.vote not in {"A", "B"}:
            return EndpointCheck(
                "vote", "failed", f"expected A or B, got {(reply.vote or '')[:20]!r}"
            )
        return EndpointCheck("vote", "ok", f"voted {reply.vote} in {reply.latency_ms:.0f} ms")

    def _ask(self, kind: str, **fields: Any) -> Any:
        work = {**_work(kind), **fields}
        body = orjson.dumps(work)
        secret = tokens.token_bytes(SECRET_BYTES) if self._secret is None else self._secret
        outcome = self._post(self._sign(secret, work, body, datetime.now(UTC)), body)
        if isinstance(outcome, Fault):
            return outcome
        return read_reply(outcome.body, kind=kind, latency_ms=outcome.latency_ms)

    def _post(self, headers: Mapping[str, str], body: bytes) -> BotResponse | Fault:
        return self._bots.post(self._url, headers=headers, body=body, seconds=self._seconds)

    @staticmethod
    def _sign(secret: bytes, work: Mapping[str, Any], body: bytes, at: datetime) -> dict[str, str]:
        return signing_headers([secret], message=str(work["id"]), body=body, at=at)


def _work(kind: str) -> dict[str, Any]:
    return {
        "id": f"doctor-{tokens.token_hex(6)}",
        "kind": kind,
        "match": "doctor",
        "prompt": _PROMPT,
        "max_chars": 400,
        "deadline": (datetime.now(UTC) + timedelta(seconds=30)).isoformat(timespec="seconds"),
        "deadline_ms": 30_000,
        "attempt": 1,
        "last_latency_ms": None,
        "protocol": PROTOCOL,
    }


def _is_rejection(fault: Fault) -> bool:
    return fault.code.startswith("status-4")


def _outcome(outcome: BotResponse | Fault) -> str:
    return "accepted" if isinstance(outcome, BotResponse) else _describe(outcome)


def _describe(fault: Fault) -> str:
    return f"{fault.code}: {fault.detail}" if fault.detail else fault.code
