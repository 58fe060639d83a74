"""Names and texts use the words of the field: the glossary's terms and plain English."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ORDINARY = frozenset((Path(__file__).parent / "words.txt").read_text().split())
GLOSSARY = frozenset(re.findall(r"[a-z0-9]+", (ROOT / "GLOSSARY.md").read_text().casefold()))
PRIVATE = re.compile(
    r"\b(ails|amiss|anew|court|house|mended|portions?|posed|shelf|strangers?|told|unfit|whoever)\b"
    r"|\b\w+(Told|Asked)\b"
)
ALLOWED = {
    # The name of the service as a validator is written into ledgers, which keep their bytes.
    "src/agon/app/contests/submissions/agents.py": {"house"},
    "docs/howto/add-a-discipline.md": {"house"},  # the house rules of a quiz
    # The texts of findings and errors that are stored with boards keep their bytes.
    "src/agon/kernel/agreement/krippendorff_alpha.py": {"told"},
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
    found = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)
    return [word.casefold() for word in found]


def test_every_word_of_the_public_api_is_a_term_of_the_glossary_or_an_ordinary_one() -> None:
    """A client's author learns the glossary once and meets no private word after that."""
    known = ORDINARY | GLOSSARY
    assert {word for name in api_names() for word in words(name)} - known == set()


def test_ordinary_words_are_used() -> None:
    """A list that only grows would allow any word in the end."""
    assert {word for name in api_names() for word in words(name)} >= ORDINARY - GLOSSARY


TEXTS = sorted(
    path
    for folder in ("src/agon", "docs")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".md"} and not {"examples", "_build", "__pycache__"} & set(path.parts)
)


def test_texts_have_no_private_words() -> None:
    """Metaphors and narration have to be translated by each reader."""
    pages = [
        ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "GLOSSARY.md")
    ]
    private = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in [*TEXTS, *pages]
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        for match in PRIVATE.finditer(line)
        if match[0] not in ALLOWED.get(str(path.relative_to(ROOT)), set())
    ]
    assert private == []
