"""Read test sources with bounds wide enough not to matter."""

from agon.disciplines.dojo.program import ParsedProgram, Violation, parse


def read(source: str | bytes) -> ParsedProgram:
    """Parse a source that must be readable."""
    raw = source.encode() if isinstance(source, str) else source
    program = parse(raw, max_bytes=1_000_000, max_depth=300)
    assert isinstance(program, ParsedProgram), program
    return program


def violation_in(source: str | bytes) -> Violation:
    """Parse a source that must not be readable."""
    raw = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    violation = parse(raw, max_bytes=1_000_000, max_depth=300)
    assert isinstance(violation, Violation)
    return violation
