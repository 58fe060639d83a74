"""Add to the API's description what all operations share."""

import re
from typing import Any, Final

import orjson

from agon.http.problems import MEDIA_TYPE

DESCRIPTION: Final = """\
The operations of the service. Responses are JSON; errors are
`application/problem+json` with a stable `code`. Lists come in pages: follow `next`.
Send `Idempotency-Key` with requests that change something, so that they can be repeated safely.
Board pages carry a strong `ETag`, and so do contests, whose edits take `If-Match`. Tokens go into
`Authorization: Bearer agon_…`; public contests can be read without one.
"""

_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A new key for each request; a repeated request with it gets the same response.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
}
_CHANGING: Final = frozenset({"post", "put", "patch", "delete"})


_GENERIC: Final = re.compile(rb"\b(Page|Items)_(\w+?)_\b")
"""Names of schemas of generic models: ``Page_Webhook_``."""


def complete(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the description with tokens, idempotency keys, errors and schema names."""
    schema = orjson.loads(_GENERIC.sub(_schema_name, orjson.dumps(schema)))
    schema["info"]["description"] = DESCRIPTION
    parts = schema.setdefault("components", {})
    parts["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "agon_… as it was returned."}
    }
    parts.get("schemas", {}).pop("HTTPValidationError", None)
    parts.get("schemas", {}).pop("ValidationError", None)
    shared = parts["responses"] = {}
    for operations in schema["paths"].values():
        for method, operation in operations.items():
            operation["security"] = [{}, {"token": []}]
            for status, answer in operation["responses"].items():
                if MEDIA_TYPE in answer.get("content", {}):
                    name = f"Problem{status}"
                    answer["content"].pop("application/json", None)
                    shared[name] = answer
                    operation["responses"][status] = {"$ref": f"#/components/responses/{name}"}
            if method in _CHANGING:
                operation.setdefault("parameters", []).append(_KEY)
    return schema


def _schema_name(match: re.Match[bytes]) -> bytes:
    """Return the name of a generic model's schema: ``WebhookPage``, ``WebhookList``."""
    item = b"Participant" if match[2].startswith(b"dict") else match[2]
    return item + (b"Page" if match[1] == b"Page" else b"List")
