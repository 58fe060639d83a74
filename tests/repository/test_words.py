"""Names and texts use the words of the field: the glossary's terms and plain English."""

import json
import re
from pathlib import Path

from repository.modules import Module

ROOT = Path(__file__).parents[2]
ORDINARY = frozenset((Path(__file__).parent / "words.txt").read_text().split())
GLOSSARY = frozenset(re.findall(r"[a-z0-9]+", (ROOT / "GLOSSARY.md").read_text().casefold()))
PRIVATE = re.compile(
    r"\b(ails|amiss|anew|beside|court|everybody|house|mended|nobody|portions?|posed|refusals?|refuses?"
    r"|shelf|somebody|strangely|strangers?|tells?(?!\()|telling|told|unfit|whoever)\b"
    r"|(?<!-)\balike\b|\b_?(MOST|LONGEST|LARGEST|PATIENCE)(_[A-Z_]+)?\b|\b\w+(Told|Asked)\b"
)
BRITISH = re.compile(
    r"\b(behaviour|catalogue|colour|favourite|favoured|labelled|learnt|maximise|misspelt|neighbour"
    r"|normalised|organisation|recognise|regularis(ed|ation)|serialised|spelt)s?\b"
)
ALLOWED = {
    # The name of the service as a validator is written into ledgers, which keep their bytes.
    "src/agon/disciplines/challenge/records.py": {"house"},
    # The texts of reasons, findings and errors that are stored with boards keep their bytes.
    "src/agon/kernel/agreement/krippendorff_alpha.py": {"told"},
    "src/agon/disciplines/arena/voting.py": {"alike", "everybody"},
    "src/agon/disciplines/community/attackers.py": {"favourite"},  # ids in simulated records
    "src/agon/disciplines/challenge/boards.py": {"nobody"},
    "src/agon/disciplines/challenge/competition_explanations.py": {"nobody"},
    "src/agon/disciplines/challenge/waterfall.py": {"nobody"},
    "src/agon/disciplines/community/integrity.py": {"everybody"},
    "src/agon/disciplines/community/checks/rings.py": {"everybody"},
    "src/agon/disciplines/dojo/integrity.py": {"nobody"},
    # A field of the protocol.
    "src/agon/runners/judges/openai.py": {"refusal"},
    # The user of Unix systems.
    "src/agon/runners/containers/base_image.py": {"nobody"},
    "docs/methods/containers.md": {"nobody"},
    "docs/methods/sandbox.md": {"nobody"},
}


def api_names() -> set[str]:
    """Return the names in the API: schemas, fields, parameters, operations, tags."""
    described = json.loads((ROOT / "docs/reference/openapi.json").read_text())
    schemas = described["components"]["schemas"]
    names = set(schemas)
    for schema in schemas.values():
        names.update(schema.get("properties", {}))
    for methods in described["paths"].values():
        for operation in methods.values():
            names.add(operation["operationId"])
            names.update(operation.get("tags", []))
            names.update(each["name"] for each in operation.get("parameters", []) if "name" in each)
    return names


def words(name: str) -> list[str]:
    """Return the words of a name in camel case or with underscores.

    Example:
        >>> words("ContestCreate"), words("rules_sha256")
        (['contest', 'create'], ['rules', 'sha256'])
    """
    parts = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)
    return [word.casefold() for word in parts]


def test_every_word_of_the_public_api_is_a_term_of_the_glossary_or_an_ordinary_one() -> None:
    """A developer of a client learns the glossary once, and needs no other words."""
    known = ORDINARY | GLOSSARY
    assert {word for name in api_names() for word in words(name)} - known == set()


def test_ordinary_words_are_used() -> None:
    """A list that only grows would finally allow any word."""
    assert {word for name in api_names() for word in words(name)} >= ORDINARY - GLOSSARY


TEXTS = sorted(
    path
    for folder in ("src/agon", "docs")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".md", ".html"}
    and not {"examples", "_build", "__pycache__"} & set(path.parts)
)


PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "GLOSSARY.md")]


TESTS = sorted(path for folder in ("tests", "benchmarks") for path in (ROOT / folder).rglob("*.py"))
DATA = {"house", "nobody", "refusal", "somebody"}
"""Ids in the data of tests, a user of Unix systems, a field of a protocol."""


_EXAMPLES = re.compile(r"<!-- agon-examples .*?<!-- end -->", re.DOTALL)


def _without_examples(text: str) -> str:
    """Return text without the examples of released editions, which are never changed."""
    return _EXAMPLES.sub(lambda part: "\n" * part[0].count("\n"), text)


def occurrences(pattern: re.Pattern[str]) -> list[str]:
    """Return the matches in texts and pages that are not allowed, with their lines."""
    return [
        f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
        for path in [*TEXTS, *PAGES]
        for text in [_without_examples(path.read_text())]
        for match in pattern.finditer(text)
        if match[0] not in ALLOWED.get(str(path.relative_to(ROOT)), set())
    ]


def test_texts_have_no_private_words() -> None:
    """Each reader would have to translate metaphors."""
    assert occurrences(PRIVATE) == []


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
    assert occurrences(BRITISH) == []


def test_every_allowed_word_is_used() -> None:
    """An exemption that nothing needs would hide the next private word."""
    for path, allowed in ALLOWED.items():
        text = (ROOT / path).read_text()
        assert {word for word in allowed if re.search(rf"\b{word}\b", text)} == allowed, path


PARTICIPLES = frozenset({"asked", "found", "given", "kept", "moment", "one", "told", "whole"})


def test_names_are_nouns_or_verbs(modules: dict[Path, Module]) -> None:
    """What was found, given or kept is known where the variable is read only by its name."""
    participles = {
        str(path.relative_to(ROOT)): sorted(names)
        for path, module in modules.items()
        if (names := module.names & PARTICIPLES)
    }
    assert participles == {}


PAST = re.compile(
    r"_?(?!feed|need|seed|speed)([a-z]+ed|built|drawn|left|lost|made|shown|taken|written)"
)
IDIOMS = re.compile(
    r"\b(anybody|somebody|howsoever|worth knowing|as far as there|whatever (its|the|their)"
    r"|be had|is meant|comes? out|of its own accord|the rules let|who (would|will) move)\b"
)


def actions(module: Module) -> set[str]:
    """Return the names of the classes and functions in a module; properties are values."""
    functions = {each.name for each in module.functions if not (each.is_property or each.is_async)}
    return functions | {each.name for each in module.classes}


def test_functions_are_not_named_by_participles(modules: dict[Path, Module]) -> None:
    """What a function does is a verb, what it returns a noun; `drawn` is neither."""
    named = {
        str(path.relative_to(ROOT)): sorted(names)
        for path, module in modules.items()
        if (names := {name for name in actions(module) if PAST.fullmatch(name)})
    }
    # The client's method of the same name as the path of the API.
    assert named == {"src/agon/api/operations/boards.py": ["unscored"]}


ERRORS = frozenset({
    "AgonError", "BaseException", "Conflict", "Exception", "Gone", "Unavailable", "Unreadable",
})  # fmt: skip


def test_classes_are_not_named_by_participles(modules: dict[Path, Module]) -> None:
    """A class is a thing; only an error may be named after the fact."""
    named = {
        f"{path.relative_to(ROOT)}: {each.name}"
        for path, module in modules.items()
        for each in module.classes
        if PAST.fullmatch(words(each.name)[-1])
        if not each.bases & ERRORS
    }
    assert named == set()


def test_texts_have_no_idioms() -> None:
    """A reader of English as a second language knows the technical words."""
    assert occurrences(IDIOMS) == []
