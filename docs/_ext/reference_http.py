"""Make the curl examples of the HTTP reference from the catalog of operations, as Markdown."""

import inspect
import json
import re
from typing import Any

from agon.api.catalog import all_operations
from agon.api.operation import Operation

_HEADER = '-H "Authorization: Bearer $AGON_TOKEN"'
_JSON = "-H 'Content-Type: application/json'"


def examples(_: str) -> str:
    """Return a call of every operation, by noun; placeholders are in capitals."""
    families: dict[str, list[str]] = {}
    for operation in all_operations():
        families.setdefault(operation.tag, []).append(_call(operation))
    return "\n\n".join(
        f"**{tag}**\n\n```sh\n{chr(10).join(calls)}\n```" for tag, calls in families.items()
    )


def _call(operation: Operation[Any, Any]) -> str:
    """Return one call, with what it does as a comment."""
    path = re.sub(r"\{(\w+)\}", lambda name: name[1].upper(), operation.url)
    query = [f"{each.alias}={each.alias.upper()}" for each in operation.parameters
             if each.kind == "query" and each.default is inspect.Parameter.empty]  # fmt: skip
    path += f"?{'&'.join(query)}" if query else ""
    parts = ["curl"]
    if operation.method != "GET":
        parts.append(f"-X {operation.method}")
    if operation.permission is not None:
        parts.append(_HEADER)
    body = [each for each in operation.parameters if each.kind == "body"]
    if body:
        fields = getattr(body[0].annotation, "model_fields", {}).items()
        required = {name: name.upper() for name, field in fields if field.is_required()}
        parts.append(f"{_JSON} -d '{json.dumps(required)}'")
    return f'# {operation.summary}\n{" ".join(parts)} "$AGON_SERVER{path}"'
