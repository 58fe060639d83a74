r"""Decode and encode JSON and text within one set of limits, so that every reader can read them.

JSON itself has no limits, and its readers differ: some read what others cannot write again. Within
these limits they agree, and nothing is lost between reading and writing:

- at most :data:`MAX_DEPTH` levels of lists and objects, and :data:`MAX_KEYS` keys in an object;
- each key of an object once (readers take the first or the last of two);
- integers from -2\ :sup:`63` to 2\ :sup:`64` - 1, other numbers finite as 64-bit floats;
- text that is Unicode, without half of a surrogate pair.

The reader limits the size. What an encoder adds around a value (a ledger's line has two
levels more than its row) stays far below what the reader of lines takes, 254 levels.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import add
from typing import Any, Final

import orjson

MAX_DEPTH: Final = 100
"""Maximum number of levels of lists and objects in a value."""

MAX_KEYS: Final = 10_000

_MIN_INTEGER: Final = -(2**63)
_MAX_INTEGER: Final = 2**64 - 1
# An integer of more than 64 bits is read as a float, which is written with an exponent.
_EXPONENT: Final = b"e+" if b"e+" in orjson.dumps(2.0**64) else b"e"
_LINE_END: Final = orjson.Fragment(b"\n")
_BETWEEN: Final = b",\n,"
_MIN_KEY_BYTES: Final = 4
"""Minimum length of a key with its colon and a comma: ``"":1,`` is longer."""
_MAX_DIGITS: Final = 20
_LONG: Final = 4096
_SHOWN: Final = 80
_CORRECT: Final = "correct it"
_JSON_VALUES: Final = {"None": "null", "True": "true", "False": "false"}
_PYTHON_VALUE: Final = re.compile(
    r"[^-\w]?(?P<word>-?(?:NaN|nan|Infinity|inf)|None|True|False)(?![\w.])"
)
"""A value as Python writes it, also in what its module json takes for JSON."""


class InvalidJson(ValueError):
    """A text is not JSON, or beyond the limits.

    Attributes:
        fact: what is wrong; ``is …`` or ``has …``.
        remedy: what to do.
    """

    def __init__(self, fact: str, remedy: str = _CORRECT) -> None:
        super().__init__(f"{fact}; {remedy}")
        self.fact = fact
        self.remedy = remedy


def read_json(text: bytes) -> Any:
    """Return the value of JSON text in UTF-8.

    Raises:
        InvalidJson: it is not JSON, or beyond the limits.

    Example:
        >>> read_json(b'{"a": [1, 2.5, null]}')
        {'a': [1, 2.5, None]}
        >>> read_json(b'{"key": 1, "key": 2}')
        Traceback (most recent call last):
        agon.kernel.text.plain_json.InvalidJson: has the key 'key' twice in one object; give it once
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if "depth" in str(error):
            raise _too_deep() from None
        raise InvalidJson(*_not_json(text, error)) from None
    try:
        written = orjson.dumps(value)
    except TypeError:
        raise _too_deep() from None
    if not _is_lossless(text, written):
        _require_lossless(text)
    require_limits(value, written)
    return value


def _not_json(text: bytes, error: orjson.JSONDecodeError) -> tuple[str, str]:
    """Return what is wrong with bytes that are not JSON, and what to do."""
    if b"\0" in text:
        return "has NUL bytes (UTF-16 text or no text)", "give UTF-8"
    try:
        decoded = text.decode()
    except UnicodeDecodeError as wrong:
        return f"is not UTF-8 (byte {wrong.start + 1} is 0x{text[wrong.start]:02x})", "give UTF-8"
    # The position of a number without digits is the one behind its sign.
    found = _PYTHON_VALUE.match(decoded, max(error.pos - 1, 0), error.pos + _SHOWN)
    if found is not None:
        word = found["word"]
        right = _JSON_VALUES.get(word, "a finite number, or null where there is none")
        return f"has {word} for a value, which JSON does not know", f"write {right}"
    if "infinity" in error.msg:
        return "has a number beyond 1.8e308, the largest of 64 bits", "write a smaller one"
    return f"is not JSON in UTF-8 ({error})", _CORRECT


def parse_objects(lines: Sequence[bytes]) -> list[dict[str, Any]] | None:
    """Return the objects of many lines; None if any line may be no object or have too many keys.

    What JSON cannot keep is not looked for; :func:`write_objects` does it for all at once.

    Args:
        lines: the lines, with or without their ends.
    """
    if max(map(len, lines)) > _MIN_KEY_BYTES * MAX_KEYS:
        return None
    try:
        values = list(map(orjson.loads, lines))
    except orjson.JSONDecodeError:
        return None
    return values if {dict}.issuperset(map(type, values)) else None


def write_objects(
    lines: Sequence[bytes], objects: Sequence[dict[str, Any]], *, colons_around: int = 0
) -> list[bytes] | None:
    """Return the JSON of objects, each with sorted keys; None if a line may be beyond limits.

    It is as strict as :func:`read_json`, and many times faster.

    Args:
        lines: the lines that :func:`parse_objects` read.
        objects: for each line its object, or the one object within it.
        colons_around: the number of colons of all lines that are not within those objects.

    Example:
        >>> lines = [b'{"b":1,"a":2}', b'{"a":3}']
        >>> write_objects(lines, parse_objects(lines))
        [b'{"a":2,"b":1}', b'{"a":3}']
    """
    try:
        together = orjson.dumps(objects, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return None
    if not _is_lossless(b"".join(lines), together, colons_around=colons_around):
        return None
    if _count(together, b"{") == len(lines) and _count(together, b"[") == 1:
        # Each brace opens one of the objects, so that this mark can be in no text.
        return [b"{%b}" % inner for inner in together[2:-2].split(b"},{")]
    if not _are_shallow(lines):
        return None
    together_with_ends = write_together(objects)
    return None if together_with_ends is None else split_together(together_with_ends)


def write_together(values: Sequence[Any]) -> bytes | None:
    """Return a JSON list of values with sorted keys; None if any cannot be written.

    Between two values stands a line end, so that :func:`split_together` can part them: JSON has no
    line end of its own, in a text it is escaped. It takes a fraction of the time of one by one.
    """
    parts: list[Any] = [_LINE_END] * (2 * len(values) - 1)
    parts[::2] = values
    try:
        return orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return None


def split_together(together: bytes) -> list[bytes]:
    """Return the JSON of each of the values that :func:`write_together` wrote."""
    return together[1:-1].split(_BETWEEN)


def require_limits(value: Any, written: bytes) -> None:
    """Raise unless a value, which is written as JSON, keeps to the limits of depth and keys.

    Raises:
        InvalidJson: it does not.
    """
    if is_plain(written):
        return
    if _depth_exceeds(value):
        raise _too_deep()
    _require_few_keys(value)


def is_plain(written: bytes) -> bool:
    """Return whether JSON shows by its length and brackets that it keeps to the limits.

    True is certain; :func:`require_limits` decides the others.
    """
    return (
        len(written) <= _MIN_KEY_BYTES * MAX_KEYS
        and written.count(b"{") + written.count(b"[") <= MAX_DEPTH
    )


def write_json(value: Any) -> bytes:
    """Return a value as JSON, keys in their own order.

    Raises:
        InvalidJson: it cannot be read again, or is beyond the limits.

    Example:
        >>> write_json({"b": 1, "a": [None, "π"]}).decode()
        '{"b":1,"a":[null,"π"]}'
    """
    try:
        written = orjson.dumps(value)
    except TypeError as error:
        raise InvalidJson(
            f"has a value that JSON cannot hold ({error})",
            "give text in Unicode, integers of 64 bits, finite numbers, lists and objects",
        ) from None
    require_limits(value, written)
    return written


def _are_shallow(lines: Sequence[bytes]) -> bool:
    """Return whether lines show by their brackets that none nests too far."""
    objects, lists = (map(bytes.count, lines, repeat(mark)) for mark in (b"{", b"["))
    return max(map(add, objects, lists)) <= MAX_DEPTH


def _is_lossless(text: bytes, written: bytes, *, colons_around: int = 0) -> bool:
    """Return whether no key was given twice and no integer became a float; False if unsure.

    Without escaped colons a text has as many colons as what is written of it, unless a key was
    dropped together with its colon.
    """
    if _count(text, b":") != _count(written, b":") + colons_around:
        return False
    if b"\\" in text and (b"\\u003a" in text or b"\\u003A" in text):
        return False
    return _EXPONENT not in written


def _count(text: bytes, mark: bytes) -> int:
    """Return how often one byte occurs, in a long text seven times faster than ``bytes.count``."""
    if len(text) < _LONG:
        return text.count(mark)
    import numpy as np

    return int(np.count_nonzero(np.frombuffer(text, dtype=np.uint8) == ord(mark)))


def _require_lossless(text: bytes) -> None:
    """Raise if a key is given twice or an integer has more than 64 bits; slow and exact."""
    json.loads(text, object_pairs_hook=_unique, parse_int=_integer)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise InvalidJson(f"has the key {_cut(twice)!r} twice in one object", "give it once")
    return value


def _integer(digits: str) -> int:
    # The length is compared first, because int() takes quadratic time.
    value = int(digits) if len(digits) <= _MAX_DIGITS else _MAX_INTEGER + 1
    if not _MIN_INTEGER <= value <= _MAX_INTEGER:
        fact = f"has the integer {_cut(digits)}, which has more than 64 bits"
        raise InvalidJson(fact, "give it as text")
    return value


def _depth_exceeds(value: Any) -> bool:
    """Return whether a value has more than the permitted levels, without recursion."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [inner for value in level for inner in _inner(value)]
        if not level:
            return False
    return True


def _inner(value: Any) -> Iterable[Any]:
    """Return the values one level below; of plain values none, of an empty list None."""
    if isinstance(value, dict):
        return value.values() or (None,)
    return (value or (None,)) if isinstance(value, list | tuple) else ()


def _require_few_keys(value: Any) -> None:
    level: list[Any] = [value]
    while level:
        if any(isinstance(item, dict) and len(item) > MAX_KEYS for item in level):
            raise InvalidJson(f"has an object of more than {MAX_KEYS:,} keys", "give fewer")
        level = [inner for item in level if isinstance(item, dict | list | tuple)
                 for inner in (item.values() if isinstance(item, dict) else item)]  # fmt: skip


def _too_deep() -> InvalidJson:
    return InvalidJson(f"nests more than {MAX_DEPTH} levels of lists and objects", "flatten it")


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def unstorable(text: str) -> tuple[str, str] | None:
    r"""Return why a text cannot be stored everywhere, and the remedy; None: it can.

    PostgreSQL has no NUL in a text, UTF-8 no half of a surrogate pair. SQLite takes the former.

    Example:
        >>> unstorable("Zoë"), unstorable("a\0b")
        (None, ('has the character NUL', 'leave it out'))
        >>> unstorable("\ud800")
        ('has half of a surrogate pair', 'leave it out')
    """
    if "\x00" in text:
        return "has the character NUL", "leave it out"
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return "has half of a surrogate pair", "leave it out"
    return None
