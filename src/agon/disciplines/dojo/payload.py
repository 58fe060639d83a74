"""Measure how much data a program carries in its literals and names (document 002, 3).

The counts do not depend on the Python version: inside f-strings, whose positions are exact only
since Python 3.12, a number counts with its decimal digits and not as it is written.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from agon.disciplines.dojo.program import ParsedProgram, Violation
from agon.disciplines.dojo.rules import DojoRules


@dataclass(frozen=True, order=True)
class Literal:
    """The position and size of one literal.

    Attributes:
        line: from 1.
        column: in characters from 1.
        size: digits of an integer (0 for other numbers), characters or elements.
    """

    line: int
    column: int
    size: int


@dataclass(frozen=True)
class ProgramPayload:
    """The literals and names of a program, each kind in source order.

    Attributes:
        numbers: every number; ``size`` is the digits as written, without prefix and underscores,
            of an integer, and 0 for a float or an imaginary number.
        strings: every str and bytes literal, docstrings, the text parts of f-strings; ``size`` is
            the characters of the value, so an escape counts once. Adjacent literals are one.
        sequences: every list and tuple display; ``size`` is the elements (``*rest`` is one).
            Sets and dicts are not meant by the seed: their content is bound by the other limits.
        information: every number, ``size`` its digits as written; and every distinct name where it
            first occurs, ``size`` its bytes, or half of them where it occurs again.
        encoded: the strings again, ``size`` the bytes of the value, of a text in UTF-8.
    """

    numbers: tuple[Literal, ...]
    strings: tuple[Literal, ...]
    sequences: tuple[Literal, ...]
    information: tuple[Literal, ...] = ()
    encoded: tuple[Literal, ...] = ()

    @property
    def numeric_literals(self) -> int:
        """Count the numeric literals."""
        return len(self.numbers)

    @property
    def string_chars(self) -> int:
        """Count the characters of all string literals together."""
        return sum(literal.size for literal in self.strings)

    @property
    def string_bytes(self) -> int:
        """Count the bytes of all string literals together, text in UTF-8."""
        return sum(literal.size for literal in self.encoded)

    @property
    def largest_sequence(self) -> int:
        """Count the elements of the largest list or tuple."""
        return max((literal.size for literal in self.sequences), default=0)

    @property
    def longest_integer(self) -> int:
        """Count the digits of the longest integer literal."""
        return max((literal.size for literal in self.numbers), default=0)

    @property
    def information_bytes(self) -> int:
        """Count the bytes of all names and digits together."""
        return sum(literal.size for literal in self.information)


@dataclass(frozen=True, kw_only=True)
class PayloadLimits:
    """The limits of what a program carries; None: there is none, as in edition 0.1.

    Attributes:
        numeric_literals: most numbers.
        string_chars: most characters of all strings together.
        string_bytes: most bytes of all strings together.
        largest_sequence: most elements of one list or tuple.
        longest_integer: most digits of one integer.
        information_bytes: most bytes of all names and digits together.
    """

    numeric_literals: int
    string_chars: int
    string_bytes: int | None
    largest_sequence: int
    longest_integer: int | None
    information_bytes: int | None

    @classmethod
    def of(cls, rules: DojoRules) -> Self:
        """Return the limits that rules state."""
        return cls(
            numeric_literals=rules.max_numeric_literals,
            string_chars=rules.max_string_literal_chars,
            string_bytes=rules.max_string_bytes,
            largest_sequence=rules.max_list_tuple_elements,
            longest_integer=rules.max_literal_digits,
            information_bytes=rules.max_information_bytes,
        )


def measure(program: ParsedProgram) -> ProgramPayload:
    r"""Collect the literals of a program (document 002, 3.2 Payload thresholds).

    Example:
        >>> from agon.disciplines.dojo.program import parse
        >>> program = parse(b"x = [1, 0xff, 2.5, 'a\\n']\n", max_bytes=100, max_depth=50)
        >>> payload = measure(program)
        >>> payload.numeric_literals, payload.string_chars
        (3, 2)
        >>> payload.largest_sequence, payload.longest_integer
        (4, 2)
        >>> payload.information_bytes  # x; 1, ff, 25
        6
    """
    formatted: set[int] = set()
    for node in program.nodes:
        if isinstance(node, ast.FormattedValue) and id(node) not in formatted:
            formatted.update(map(id, ast.walk(node)))
    numbers, strings, sequences, information = [], [], [], list(_names(program))
    encoded = []
    for node in program.nodes:
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str | bytes):
                strings.append(Literal(*program.place(node), len(node.value)))
                encoded.append(Literal(*program.place(node), _bytes_of(node.value)))
            elif type(node.value) in (int, float, complex):
                digits = _digits(program, node, formatted=id(node) in formatted)
                numbers.append(Literal(*program.place(node), digits))
                size = _size_as_written(program, node, formatted=id(node) in formatted)
                information.append(Literal(*program.place(node), size))
        elif isinstance(node, ast.List | ast.Tuple) and isinstance(node.ctx, ast.Load):
            sequences.append(Literal(*program.place(node), len(node.elts)))
    return ProgramPayload(
        *map(tuple, map(sorted, (numbers, strings, sequences, information, encoded)))
    )


def check(payload: ProgramPayload, limits: PayloadLimits) -> list[Violation]:
    """Return violations of what is strictly above a limit (document 002, 3.2), in source order.

    A total is reported at the literal that goes over it; a limit on one literal at each literal
    above it.

    Example:
        >>> payload = ProgramPayload(numbers=(Literal(1, 1, 3),) * 3, strings=(), sequences=())
        >>> check(payload, PayloadLimits.of(DojoRules(max_numeric_literals=3)))
        []
        >>> check(payload, PayloadLimits.of(DojoRules(max_numeric_literals=2)))[0].what
        '3 numeric literals, 2 are allowed'
    """
    numbers = payload.numbers
    each_once = [replace(number, size=1) for number in numbers]
    return sorted(
        (
            *_over_total(each_once, limits.numeric_literals, "numeric literals"),
            *_over_total(payload.strings, limits.string_chars, "string characters"),
            *_over_total(payload.encoded, limits.string_bytes, "bytes of strings"),
            *_over_one(
                payload.sequences, limits.largest_sequence, "a list or tuple of {} elements"
            ),
            *_over_one(numbers, limits.longest_integer, "an integer of {} digits"),
            *_over_total(
                payload.information, limits.information_bytes, "bytes of names and digits"
            ),
        )
    )


def _over_total(literals: Sequence[Literal], limit: int | None, unit: str) -> list[Violation]:
    """Return the violation of a limit of all sizes together, at the literal that goes over it."""
    if limit is None:
        return []
    running = 0
    for literal in literals:
        running += literal.size
        if running > limit:
            total = sum(each.size for each in literals)
            return [_refuse(literal, f"{total} {unit}, {limit} are allowed")]
    return []


def _over_one(literals: Sequence[Literal], limit: int | None, description: str) -> list[Violation]:
    """Return the violations of a limit of each size."""
    return [
        _refuse(literal, f"{description.format(literal.size)}, {limit} are allowed")
        for literal in literals
        if limit is not None and literal.size > limit
    ]


def _refuse(literal: Literal, what: str) -> Violation:
    remedy = "compute the terms instead of storing them"
    return Violation(literal.line, literal.column, what, remedy, "rejected_policy")


def _bytes_of(value: str | bytes) -> int:
    """Return the bytes of a string; half of a surrogate pair is a code point as any other."""
    return len(value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value)


def _digits(program: ParsedProgram, literal: ast.Constant, *, formatted: bool) -> int:
    """Return the digits of a number; of a float or an imaginary number none."""
    if type(literal.value) is not int:
        return 0
    return (
        _decimal_digits(literal.value) if formatted else _written_digits(program.text_of(literal))
    )


def _size_as_written(program: ParsedProgram, literal: ast.Constant, *, formatted: bool) -> int:
    """Return the digits of any number: ``0xff`` has 2, ``12.5e3`` has 4."""
    if type(literal.value) is int:
        return _digits(program, literal, formatted=formatted)
    text = repr(literal.value) if formatted else program.text_of(literal)
    return sum(character.isdecimal() for character in text)


def _names(program: ParsedProgram) -> Iterator[Literal]:
    """Yield every distinct name where it first occurs; one that occurs again counts half.

    A program can read its names as text: those of keywords, of attributes and classes (``dir``),
    and those in the message of a NameError. Variables are read by name as well as set, so the
    author writes each of them twice and pays for both; names that hold data are written once.
    """
    occurrences: Counter[str] = Counter()
    first: dict[str, tuple[int, int]] = {}
    for node in program.nodes:
        if isinstance(node, ast.Constant):
            continue
        for _, value in ast.iter_fields(node):
            for name in value if isinstance(value, list) else (value,):
                if isinstance(name, str):
                    occurrences[name] += 1
                    if name not in first:
                        first[name] = program.place(node)
    for name, place in first.items():
        size = len(name.encode())
        yield Literal(*place, size if occurrences[name] == 1 else (size + 1) // 2)


def _written_digits(text: str) -> int:
    digits = text.lower().replace("_", "")
    if digits.startswith(("0x", "0o", "0b")):
        return len(digits) - 2
    return len(digits)


def _decimal_digits(value: int) -> int:
    """Return the number of decimal digits without ``str``, which rejects more than 4,300 of them.

    Inside an f-string the way a number was written is not known in every Python version.
    """
    digits = max(value.bit_length() * 30102 // 100_000, 1)
    while 10**digits <= value:
        digits += 1
    return digits
