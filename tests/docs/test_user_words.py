"""What users read says "source document" and "secret number", each by one name."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agon.disciplines import BUILT_IN, discipline
from agon.editions import edition, editions

ROOT = Path(__file__).parents[2]
DEVELOPERS = ("decisions", "_build", "design.md", "library.md", "add-a-discipline.md")
"""Pages for those who change or embed agon; a parameter of the library may be a seed."""

_CODE = re.compile(
    r"```.*?```|\$\$.*?\$\$|\$[^$\n]*\$|`[^`\n]*`|\{\{.*?\}\}|\{%.*?%\}|<[^>]+>", re.DOTALL
)
_SEED = re.compile(r"(?<!hash )(?<!--)\bseed(?:s|ed)?\b(?! \d)(?!=)", re.IGNORECASE)
"""The word, but not in "hash seed" (of Python) nor "seed 1" (of a run that can be repeated)."""


def _texts() -> Iterator[tuple[str, str]]:
    """Yield everything that users read, with the place of each text."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        if not any(name in page.parts for name in DEVELOPERS):
            yield str(page.relative_to(ROOT)), page.read_text()
    for template in sorted((ROOT / "src/agon/web/templates").rglob("*.html")):
        yield str(template.relative_to(ROOT)), template.read_text()
    for name in BUILT_IN:
        for text in discipline(name).rules.texts():
            yield f"rule {text.name}", f"{text.meaning} {text.reason} {text.source}"
    for full_name in editions():
        released = edition(full_name)
        titles = [example.title for example in released.examples]
        yield full_name, "\n".join([released.title, *released.changelog, *titles])


def test_no_text_for_users_calls_a_source_document_or_a_secret_number_a_seed() -> None:
    """The word had both meanings, on the same pages; neither is one a reader knows."""
    wrong = [
        f"{place}: …{text[max(0, at.start() - 30) : at.end() + 30]}…"
        for place, full in _texts()
        for text in [_CODE.sub("`", full)]
        for at in _SEED.finditer(text)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("The seed's 5 %.", 1), ("follows from the seed", 1), ("seeded", 1),
        ("Seed of all draws", 1),
        ("`--seed 1` and seed 1", 0), ("two hash seeds", 0), ("$\\text{seed}$", 0), ("proceeds", 0),
    ],
)  # fmt: skip
def test_the_check_sees_the_word_and_leaves_names_of_contracts(text: str, counts: int) -> None:
    """Options and columns keep their names."""
    assert len(_SEED.findall(_CODE.sub("`", text))) == counts
