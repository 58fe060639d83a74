"""Complete and write the API's description (OpenAPI 3.1).

``python -m agon.http.openapi docs/reference/openapi.json`` writes it; a test compares it.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import orjson

from agon.http.problems import MEDIA_TYPE

if TYPE_CHECKING:
    from agon.app.contests.service import Service

DESCRIPTION: Final = """\
Everything a contest house does, over HTTP. Answers are JSON; refusals are
`application/problem+json` with a stable `code`. Lists come in pages: follow `next`.
Send `Idempotency-Key` with requests that change something, so that they can be repeated safely.
Board pages carry a strong `ETag`. Tokens go into `Authorization: Bearer agon_…`; public contests
can be read without one.
"""

_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A fresh key for each request; its repetition gets the same answer.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
}
_CHANGING: Final = frozenset({"post", "put", "patch", "delete"})


def completed(schema: dict[str, Any]) -> dict[str, Any]:
    """Add what routes do not say one by one: who may ask, repeated requests, the description."""
    schema["info"]["description"] = DESCRIPTION
    parts = schema.setdefault("components", {})
    parts["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "agon_… as it was shown."}
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


def document() -> bytes:
    """Return the description as it stands in the repository: sorted, indented, one final newline.

    It depends on no store and no settings.
    """
    from agon.http.app import create_app
    from agon.settings import Settings

    app = create_app(cast("Service", None), Settings())
    return orjson.dumps(app.openapi(), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"


def main(arguments: list[str]) -> None:
    """Write the description to a file, or to stdout."""
    if arguments:
        Path(arguments[0]).write_bytes(document())
    else:
        sys.stdout.buffer.write(document())


if __name__ == "__main__":
    main(sys.argv[1:])
