"""Built-in templates are recognized by their wording; texts that are not public are not."""

import ast
import importlib
import pydoc_data.topics
import re
from functools import cache
from pathlib import Path

import pytest

from agon.app.arena.judging.injection_texts import DUELS
from agon.attacks.arena.recognition import (
    Recognition,
    Style,
    has_template,
    recognize,
    template_texts,
)
from sizes import size

MODULES = ("argparse", "decimal", "email.message", "http.client", "logging", "random", "zipfile")


@cache
def ordinary() -> list[str]:
    """Return prose that no one of this project wrote: the help of Python."""
    paragraphs = "\n\n".join(pydoc_data.topics.topics.values()).split("\n\n")
    texts = [" ".join(re.sub(r"[*`\"]", "", text).split())[:400] for text in paragraphs]
    return [text for text in texts if len(text) >= 40 and text[0].isupper()][:1_500]


@cache
def private() -> list[str]:
    """Return dry texts as a bank: what modules of Python say of themselves."""
    texts = list[str]()
    for name in MODULES:
        source = Path(importlib.import_module(name).__file__ or "").read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                texts += (ast.get_docstring(node) or "").split("\n\n")
    return [" ".join(text.split())[:400] for text in texts if len(text) >= 40]


@cache
def measured() -> dict[str, Recognition]:
    """Return how much of each set of texts is recognized."""
    rows = recognize(ordinary(), private(), samples=size(1_500))
    return {row.texts: row for row in rows}


def test_nearly_all_texts_of_templates_are_recognized() -> None:
    """Who reads the source passes these honeypots without judging; the docs say so."""
    row = measured()["built-in templates"]
    assert row.wording >= 0.97
    assert row.style >= 0.95


def test_texts_that_are_not_public_are_not_recognized() -> None:
    """At most one in ten, by a judge that takes one in a hundred ordinary answers for honeypots."""
    bank, answers = measured()["bank"], measured()["ordinary answers"]
    assert (bank.count > 150, answers.count > 500) == (True, True)
    assert max(bank.wording, bank.style) <= 0.10
    # Held out: the threshold was set on others, to 1 %. The classifier learns from the docstrings
    # of the package, so the share moves a little with every change.
    assert max(answers.wording, answers.style) <= 0.03


@pytest.mark.exhaustive
def test_texts_that_imitate_the_templates_are_recognized_more_often() -> None:
    """A bank is measured before it is used: the classifier sees style, not only copies."""
    style = Style.of_package(samples=size(1_500))
    scores = [style.score(duel.robotic) for duel in DUELS]
    assert min(scores) > max(style.score(duel.human) for duel in DUELS)


@pytest.mark.exhaustive
def test_every_sentence_of_every_choice_is_known() -> None:
    """Brackets and bars of a template are choices, and others are letters."""
    assert all(has_template(text) for text in template_texts("other", count=size(1_000)))
    assert not any(has_template(text) for text in ordinary())


@pytest.mark.exhaustive
def test_a_threshold_needs_answers() -> None:
    """One to set it, one to measure it."""
    with pytest.raises(ValueError, match="at least two"):
        recognize(["one"])
    assert [row.texts for row in recognize(["one", "two"], samples=20)] == [
        "ordinary answers", "built-in templates",
    ]  # fmt: skip
