"""The page about attacks: one file, with every chart with its data."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from agon.app.analysis.attack import AttackReport, attack
from agon.app.analysis.attack_page import page, price_chart
from agon.app.charts import BarGroup, RocCurve, RocPanel, bar_chart, roc_chart
from agon.attacks.detectors import PowerMeasurement
from agon.attacks.detectors.measurement import PowerTrial

NAMES = ("last-minute", "sybil-miners")


@pytest.fixture(scope="module")
def report() -> AttackReport:
    """Two attacks under two editions."""
    return attack("challenge", editions=("term-1", "hardened-1"), names=NAMES, size=12)


def point(power: int, *, threshold: float) -> PowerMeasurement:
    """Return a measurement at a threshold."""
    trial = PowerTrial(attackers=4, named=power, honest=100, accused=power - 1, actions=20)
    return PowerMeasurement.of([trial], finding="ring", attack="<five> judges", threshold=threshold)


class Page(HTMLParser):
    """Tags, attributes that name other files, and the text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect a tag."""
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in {"href", "src"}]
        self.ids += [value or "" for name, value in attrs if name == "id"]


@pytest.mark.exhaustive
def test_the_page_is_one_file_with_all_charts_and_their_data(report: AttackReport) -> None:
    """No script and no address; names are text; each chart has a table; both themes."""
    text = page(report, [point(2, threshold=0.01), point(4, threshold=0.05)], worlds=3)
    parsed = Page(text)
    assert not {"script", "link", "img", "iframe"} & set(parsed.tags)
    assert parsed.addresses == []
    assert re.findall(r"url\((?!#)", text) == []
    assert "default-src 'none'" in text
    assert parsed.tags.count("svg") == 3
    assert parsed.tags.count("table") == 2 + 1 + 2 + 1
    assert len(set(parsed.ids)) == len(parsed.ids)
    assert "prefers-color-scheme" in text
    assert "&lt;five&gt; judges" in text
    assert "<five>" not in text
    for name in (*NAMES, "challenge/term-1", "challenge/hardened-1"):
        assert name in text


@pytest.mark.exhaustive
def test_the_chart_of_prices_says_them_in_words_too(report: AttackReport) -> None:
    """A screen reader reads what the bars show."""
    picture = ET.fromstring(price_chart(report))  # noqa: S314 - we wrote this text ourselves
    description = picture.findtext("{http://www.w3.org/2000/svg}desc") or ""
    for under in report.editions:
        assert under.edition.full_name in description
        for result in under.results:
            money = f"${result.effort.money(report.prices):,.2f}"
            assert (money if result.reached else "not reached") in description


def test_charts_of_nothing_and_of_any_name_are_valid() -> None:
    """Without values there are axes alone; names are escaped."""
    groups = [BarGroup("<a> & b", [None, 0.0], ["none", "0"])]
    panels = [RocPanel("<a>", "&", [RocCurve("", [(0.0, 0.0), (1.0, 1.0)])])] * 4
    for text in (
        bar_chart([], series=[], name="x", title="", subtitle=""),
        bar_chart(groups, series=["<", ">"], name="x", title="<t>", subtitle=""),
        roc_chart([], name="x", title="", subtitle=""),
        roc_chart(panels, name="x", title="<t>", subtitle=""),
    ):
        ET.fromstring(text)  # noqa: S314 - we wrote this text ourselves


def test_curves_that_end_in_one_point_share_a_label() -> None:
    """Labels over each other cannot be read."""
    curves = [RocCurve(label, [(0.0, power)]) for label, power in (("2", 0.5), ("4", 1), ("8", 1))]
    text = roc_chart([RocPanel("ring", "", curves)], name="x", title="", subtitle="")
    assert (">4, 8<" in text, ">2<" in text, ">8<" in text) == (True, True, False)
