"""``agon attack honeypots``: files, table and JSON."""

import json
from pathlib import Path

import pytest

from agon.attacks.arena.recognition import Recognition
from cli.command import Cli

ORDINARY = (
    '{"text": "cold pizza standing up, I was late again"}\n\n'
    '{"id": "r1-1", "response_a": "soup. my daughter made it", "response_b": "nothing, why?"}\n'
    '{"id": "r1-2", "response_a": "rice with far too much garlic", "response_b": null}\n'
)
BANK = '{"id": "k1", "text": "My knowledge of soup ends with my last training cutoff."}\n'


@pytest.mark.exhaustive
def test_the_texts_of_files_are_measured(agon: Cli, tmp_path: Path) -> None:
    """Answers as they are, or the records of matches; a bank that copies a template is known."""
    answers, bank = tmp_path / "answers.ndjson", tmp_path / "bank.ndjson"
    answers.write_text(ORDINARY)
    bank.write_text(BANK)
    shown = agon("attack", "honeypots", answers, "--bank", bank, "--format", "json")
    assert shown.code == 0, shown.err
    rows = {row["texts"]: Recognition(**row) for row in json.loads(shown.out)["texts"]}
    assert {name: row.count for name, row in rows.items()} == {
        "ordinary answers": 2, "built-in templates": 3_000, "bank": 1,
    }  # fmt: skip
    assert (rows["bank"].wording, rows["ordinary answers"].wording) == (1, 0)
    assert rows["built-in templates"].wording > 0.97


def test_files_without_texts_are_named(agon: Cli, tmp_path: Path) -> None:
    """With the line and what would be right."""
    file = tmp_path / "answers.ndjson"
    for content, expected in (
        ('{"text": "a"}\n{"id": 1}\n', "line 2 has no text"),
        ('{"text": 7}\n', "line 1 has no text"),
        ("[1]\n", "line 1 has no text"),
        ("no JSON\n", "line 1"),
        ('{"text": "a"}\n', "has 1 texts; give at least two"),
        ("", "has 0 texts"),
    ):
        file.write_text(content)
        refused = agon("attack", "honeypots", file)
        assert (refused.code, expected in refused.err) == (2, True), refused.err
