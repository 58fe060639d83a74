"""Names and texts use the words of the field: the glossary's terms and plain English."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRIVATE = re.compile(
    r"\b(ails|amiss|anew|court|house|mended|portions?|posed|shelf|strangely|strangers?|unfit)\b"
)
BRITISH = re.compile(
    r"\b(behaviour|catalogue|centre|colour|favourite|favoured|fulfil|labelled|learnt|neighbour"
    r"|programme|spelt|travelled|modelled|signalled|analys(e|ed|er|ing))s?\b"
    r"|\b\w*(canonical|categor|character|custom|emphas|final|general|initial|local|material|max"
    r"|minim|normal|optim|organ|random|recogn|regular|serial|special|summar|synchron)"
    r"is(e|ed|er|ers|es|ing|ation|ations)\b",
    re.IGNORECASE,
)
ALLOWED = {
    # The name of the service as a validator is written into ledgers, which keep their bytes.
    "src/agon/disciplines/challenge/records.py": {"house"},
    "src/agon/disciplines/community/attackers.py": {"favourite"},  # ids in simulated records
}


LASTING = {
    # A role of the API, a kind of ledger entries, a rule and a column that are hashed,
    # the heading of a source, and the value of a rule.
    "organiser", "finalised", "unfinalised", "bradley_terry_regularisation", "specialises",
    "Catalogue", "neighbours",
}  # fmt: skip


def words(name: str) -> list[str]:
    """Return the words of a name in camel case or with underscores.

    Example:
        >>> words("ContestCreate"), words("rules_sha256")
        (['contest', 'create'], ['rules', 'sha256'])
    """
    parts = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)
    return [word.casefold() for word in parts]


def terms() -> list[str]:
    """Return the terms of the glossary; ``consensus (arena)`` is one of a discipline."""
    lines = re.findall(r"^\| (\*\*.*?) \|", (ROOT / "GLOSSARY.md").read_text(), re.MULTILINE)
    return [
        f"{term} {discipline}".strip()
        for line in lines
        for term, discipline in re.findall(r"\*\*([^*]+)\*\*(?: (\(\w+\)))?", line)
    ]


def test_every_term_of_the_glossary_has_one_meaning() -> None:
    """A reader looks a word up once."""
    assert [term for term, count in Counter(terms()).items() if count > 1] == []


def test_every_term_of_the_glossary_is_used() -> None:
    """A glossary of words that appear nowhere teaches another program."""
    text = " ".join(" ".join(path.read_text() for path in TEXTS).casefold().split())
    names = [term.partition(" (")[0].casefold() for term in terms()]
    assert [name for name in names if name not in text] == []


TEXTS = sorted(
    path
    for folder in ("src/agon", "docs")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".md", ".html"}
    and not {"examples", "_build", "__pycache__"} & set(path.parts)
)


PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "GLOSSARY.md")]


TESTS = sorted(path for folder in ("tests", "benchmarks") for path in (ROOT / folder).rglob("*.py"))
DATA = {"house"}
"""The name of the service as a validator, in the data of tests."""


_EXAMPLES = re.compile(r"<!-- agon-examples .*?<!-- end -->", re.DOTALL)


def _without_examples(text: str) -> str:
    """Return text without the examples of released editions, which are never changed."""
    return _EXAMPLES.sub(lambda part: "\n" * part[0].count("\n"), text)


@cache
def read(path: Path) -> str:
    """Return the text of a file without the examples of released editions."""
    return _without_examples(path.read_text())


@cache
def distinct_words(path: Path) -> frozenset[str]:
    """Return the words of a file, each once: a fiftieth of its text."""
    return frozenset(re.findall(r"\w+", read(path)))


def occurrences(pattern: re.Pattern[str], path: Path) -> list[str]:
    """Return the matches in a file with their lines."""
    text = read(path)
    return [
        f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
        for match in pattern.finditer(text)
    ]


def words_that_match(pattern: re.Pattern[str]) -> list[str]:
    """Return where texts and pages have words that match and are not allowed."""
    found = []
    for path in [*TEXTS, *PAGES]:
        allowed = LASTING | ALLOWED.get(str(path.relative_to(ROOT)), set())
        for word in distinct_words(path) - allowed:
            if pattern.fullmatch(word):
                found += occurrences(re.compile(rf"\b{word}\b"), path)
    return sorted(found)


def test_texts_have_no_private_words() -> None:
    """Each reader would have to translate metaphors."""
    assert words_that_match(PRIVATE) == []


def test_tests_and_benchmarks_have_no_private_words() -> None:
    """Tests are the second description of what agon does; their names are read as sentences."""
    names = re.compile(r"\bdef test_(\w+)")
    words = {
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in TESTS
        if path.name != Path(__file__).name
        for text in [path.read_text()]
        for part in (text, " ".join(names.findall(text)).replace("_", " "))
        for match in PRIVATE.finditer(part)
        if match[0] not in DATA
    }
    assert words == set()


def test_texts_are_spelled_as_in_american_english() -> None:
    """A name with two spellings has to be searched twice."""
    assert words_that_match(BRITISH) == []


def test_every_allowed_word_is_used() -> None:
    """An exemption that nothing needs would hide the next private word."""
    for path, allowed in ALLOWED.items():
        text = (ROOT / path).read_text()
        assert {word for word in allowed if re.search(rf"\b{word}\b", text)} == allowed, path


IDIOMS = re.compile(
    r"\b(howsoever|worth knowing|as far as there|whatever (its|the|their)"
    r"|be had|is meant|comes? out|of its own accord|the rules let|who (would|will) move)\b"
)


def test_texts_have_no_idioms() -> None:
    """A reader of English as a second language knows the technical words."""
    assert [one for path in [*TEXTS, *PAGES] for one in occurrences(IDIOMS, path)] == []
