"""Pages say when and what; positions of the ledger are for its own page, and for links to it."""

import re
from pathlib import Path

import pytest

from fakes.contests import all_disciplines
from fakes.instance import instance_at
from web.crawl import crawl
from web.markup import Markup

_LINK = re.compile(r'<a [^>]*href="[^"]*/ledger[^"]*"[^>]*>.*?</a>', re.DOTALL)
_POSITION = re.compile(r"\b(?:position|entry) \d[\d,]*", re.IGNORECASE)


@pytest.mark.exhaustive
def test_no_page_but_that_of_the_ledger_names_positions(tmp_path: Path) -> None:
    """Readers of the history of a score read "records up to position 106" as its cause."""
    instance = instance_at(tmp_path)
    all_disciplines(instance.service)
    pages = {
        address: visited.body
        for address, visited in crawl(instance, {}, 1).items()
        if "/ledger" not in address and "html" in visited.headers["content-type"]
    }
    instance.close()
    kinds = {address.split("?")[0].split("/")[3] for address in pages if address.count("/") > 2}
    assert {"people", "matches", "epochs", "rules", "distribution"} <= kinds
    named = {
        address: said
        for address, page in pages.items()
        if (said := _POSITION.findall(Markup(_LINK.sub("", page)).text))
    }
    assert named == {}
