"""Pages of every kind that a link leads to, as six roles: no error, valid, usable by everyone."""

import re
from collections import Counter
from urllib.parse import parse_qsl, quote, urlsplit

import pytest

from agon.web.addresses import board, epoch, matches
from agon.web.site import PAGES
from fakes.contests import HOSTILE
from sizes import ALL, sample
from web.browser import Browser
from web.chromium.accessibility import OF_COLORS, OF_WIDTHS, load_axe, violations
from web.chromium.browsing import Chromium, Visitor
from web.chromium.site import CRAWLING, Site
from web.crawl import Visited, kind, route
from web.markup import Markup

ROWS = frozenset({"/c/{contest}/people/{id}", "/c/{contest}/judges/{id}"})
"""The pages that the names on boards open."""

RECORDS = re.compile(r'<details>.*?class="records">\d+ in .*?<code>', re.DOTALL)
"""A part of a score that opens to its records."""

MATCH = "/c/{contest}/matches/{id}"

GLUED = re.compile(
    r"\w</(?:a|bdi|span|strong|code)>(?:</(?:a|bdi|span)>)*<(?:strong|code)\b[^>]*>\w"
)
"""A word and a number that a template put next to each other without a space."""

LEDGER_LINK = re.compile(r'<a [^>]*href="[^"]*/ledger[^"]*"[^>]*>.*?</a>', re.DOTALL)
POSITION = re.compile(r"\b(?:position|entry) \d[\d,]*", re.IGNORECASE)

WIDE, NARROW = {"width": 1200, "height": 800}, {"width": 320, "height": 640}

ELEMENTS = """texts => texts.map(text => {
  const elements = [];
  const walk = (parent, depth) => { for (const element of parent.children) {
    elements.push(`${depth} ${element.localName}`); walk(element, depth + 1); } };
  walk(new DOMParser().parseFromString(text, 'text/html'), 0);
  return elements;
})"""
"""The elements of pages as the browser's own parser reads them."""


@pytest.mark.parametrize("role", CRAWLING)
def test_every_link_leads_to_a_page(site: Site, role: str) -> None:
    """A dead link on a page is found by a visitor otherwise."""
    visited = site.visited[role]
    wrong = {(page.referrer, page.address): page.status for page in visited.values()
             if page.status != 200}  # fmt: skip
    assert wrong == {}
    for page in visited.values():
        if page.is_page:
            assert (page.markup.errors, page.markup.inline) == ([], []), page.address
            assert page.body.count("<h1>") == 1, page.address
            assert GLUED.findall(page.body) == [], page.address
            assert len(page.body.encode()) < 60_000, page.address
            policy = page.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self'")
            assert "unsafe" not in policy
    shown = "".join(page.body for page in visited.values())
    assert HOSTILE not in shown
    named = any(title in shown for title in ("The secret <", "The secret &lt;"))
    assert named == (role in {"organiser", "operator"})


@pytest.mark.exhaustive
def test_every_page_is_linked_from_another(site: Site) -> None:
    """A page without a link is found by those only who read the list of addresses."""
    visited = {route(address) for pages in site.visited.values() for address in pages}
    assert {path for path, _ in PAGES} - visited == set()


def test_no_page_but_that_of_the_ledger_names_positions(site: Site) -> None:
    """Readers of the history of a score read "records up to position 106" as its cause.

    Part of the pages, one of each sort; with TEST_ALL_SIZES all.
    """
    shown = [
        page
        for page in site.visited["anonymous"].values()
        if page.is_page and "/ledger" not in page.address
    ]
    pages = shown if ALL else {sort(page.address): page for page in shown}.values()
    paths = {kind(page.address)[0].split("/")[3] for page in pages if page.address.count("/") > 2}
    assert {"people", "matches", "epochs", "rules", "distribution"} <= paths
    named = {
        page.address: said
        for page in pages
        if (said := POSITION.findall(Markup(LEDGER_LINK.sub("", page.body)).text))
    }
    assert named == {}


@pytest.mark.sample(1)
@pytest.mark.parametrize("contest", ["community", "arena", "challenge", "autumn"])
def test_every_score_leads_to_its_records_in_two_clicks(site: Site, contest: str) -> None:
    """The first opens the page of a name, the second a part of its score with the records."""
    browser = Browser(site.instance)
    boards = site.instance.get(f"/contests/{contest}/boards").json()["items"]
    names = [item["board"] for item in boards if item["rows_total"]]
    assert names
    missing: list[tuple[str, str]] = []
    for name in names:
        rows = site.instance.get(f"/contests/{contest}/boards/{quote(name)}?limit=500").json()
        links = Markup(browser.get(f"{board(contest, name)}?limit=500").text).links
        of_rows = dict.fromkeys(link for link in links if kind(link)[0] in ROWS)
        assert len(of_rows) >= len(rows["rows"]), name
        for link in of_rows:
            page = browser.get(link).text
            if name == "combined" and (
                tab := next((to for to in Markup(page).links if "board=user-score" in to), None)
            ):  # its parts are scores of other boards: the second click opens one
                page = browser.get(tab).text
            if not RECORDS.search(page) and rests_on_records(site, contest, name, link):
                missing.append((name, link))
    assert missing == []


@pytest.mark.exhaustive
def test_every_figure_of_an_epoch_or_a_match_leads_to_its_records_in_two_clicks(site: Site) -> None:
    """The name in a row opens what it was computed from, in an epoch of the past, too.

    Part of the matches and epochs, the first among them; with TEST_ALL_SIZES all.
    """
    browser = Browser(site.instance)
    listed = site.instance.get("/contests/challenge/epochs").json()
    played = Markup(browser.get(matches("arena")).text).links
    names: dict[str, None] = {}
    shown = [*dict.fromkeys(link for link in played if route(link) == MATCH)]
    for link in sample(shown, at_least=2):
        of_match = [to for to in Markup(browser.get(link).text).links if kind(to)[0] in ROWS]
        votes = site.instance.get(f"/contests/arena/matches/{link.rpartition('/')[2]}").json()
        judges = {f"/judges/{quote(vote['judge_id'])}" for vote in votes["votes"]}
        assert len(of_match) >= 2  # both bots
        assert {judge for judge in judges if not any(judge in to for to in of_match)} == set()
        names |= dict.fromkeys(of_match)
    for number in sample(range(listed["first"], listed["last"] + 1), at_least=2):
        page = browser.get(epoch("challenge", number)).text
        for table in re.findall(r"<tbody>.*?</tbody>", page, re.DOTALL):
            rows = [Markup(row).links for row in re.findall(r"<tr>.*?</tr>", table, re.DOTALL)]
            assert all(rows), number
            names |= dict.fromkeys(row[0] for row in rows)
    pages = {name: browser.get(name).text for name in names}
    without = [name for name, page in pages.items() if not RECORDS.search(page)]
    assert len(without) < len(pages) / 2
    assert [name for name in without if rests_on_records(site, name.split("/")[2], "", name)] == []


def rests_on_records(site: Site, contest: str, of: str, link: str) -> bool:
    """Return whether what a link shows was computed from records: a start rating was not."""
    target = urlsplit(link)
    query = dict(parse_qsl(target.query))
    default = "judges" if "/judges/" in target.path else of or "bots"
    name, epoch_no = target.path.rpartition("/")[2], query.get("rule.epoch")
    url = f"/contests/{contest}/boards/{quote(query.get('board', default), safe='')}"
    if epoch_no is None:
        shown = site.instance.get(f"{url}/explanations/{name}").json()
    else:
        rules = quote(f'{{"epoch":{epoch_no}}}')
        shown = site.instance.get(f"{url}/what-if/{name}?rules={rules}").json()["after"]
    return any(part["records"] for part in shown["parts"])


def test_the_parser_of_a_browser_moves_no_element(site: Site, chromium: Chromium) -> None:
    """HTML that a browser must correct looks different in another browser.

    Part of the pages, one of each sort; with TEST_ALL_SIZES all.
    """
    shown = [page for pages in site.visited.values() for page in pages.values() if page.is_page]
    pages = shown if ALL else {sort(page.address): page for page in shown}.values()
    bodies = {page.body: page for page in pages}
    visitor = chromium.visitor(site.origin)
    parsed = visitor.page.evaluate(ELEMENTS, list(bodies))
    for page, elements in zip(bodies.values(), parsed, strict=True):
        assert elements == page.markup.elements, page.address
    visitor.close()


@pytest.mark.sample(1)
@pytest.mark.parametrize("role", CRAWLING)
def test_every_page_is_usable_by_everyone(site: Site, chromium: Chromium, role: str) -> None:
    """WCAG 2.2 AA in both themes and at two widths; no message in the console."""
    visitor = chromium.visitor(site.origin, cookie=site.cookie(role), viewport=WIDE)
    load_axe(visitor.context)
    found = {
        page.address: issues
        for page in sample(representatives(site, role), at_least=4, dear=True)
        if (issues := look(visitor, page.address))
    }
    assert found == {}
    visitor.close()


@pytest.mark.exhaustive
def test_every_component_is_usable_by_everyone(site: Site, chromium: Chromium) -> None:
    """The page of components has states that the contests lack; no link opens chosen columns."""
    visitor = chromium.visitor(site.origin, viewport=WIDE)
    load_axe(visitor.context)
    assert look(visitor, "/styleguide") == []
    assert look(visitor, "/c/community?columns=parts&columns=height") == []
    visitor.close()


def representatives(site: Site, role: str) -> list[Visited]:
    """Return the pages of each sort that no earlier role saw; with TEST_ALL_SIZES all pages."""
    pages = [page for page in site.visited[role].values() if page.is_page and page.status == 200]
    if ALL:
        return pages
    roles = CRAWLING[: CRAWLING.index(role)]
    earlier = {sort(address) for other in roles for address in site.visited[other]}
    return list(
        {of: page for page in reversed(pages) if (of := sort(page.address)) not in earlier}.values()
    )


def sort(address: str) -> tuple[str, ...]:
    """Return the page of an address; one with a sorted board is another."""
    page = kind(address)[0]
    return (page, "sorted") if "sort=" in address else (page,)


def look(visitor: Visitor, address: str) -> list[str]:
    """Return the issues of a page in both themes and at both widths."""
    page = visitor.open(address)
    issues = violations(page)
    page.set_viewport_size(NARROW)
    visitor.wait(f"innerWidth === {NARROW['width']}")  # a busy browser lays a page out later
    if page.evaluate("document.documentElement.scrollWidth") > NARROW["width"]:
        issues.append("narrow: the page scrolls sideways")
    page.emulate_media(color_scheme="dark")
    issues += [f"narrow, dark: {text}" for text in violations(page, rules=OF_WIDTHS + OF_COLORS)]
    page.set_viewport_size(WIDE)
    page.emulate_media(color_scheme="light")
    return issues


@pytest.mark.exhaustive
@pytest.mark.parametrize("address", ["/c/community", "/c/arena", "/c/arena/matches"])
def test_a_printed_board_has_all_its_columns(site: Site, chromium: Chromium, address: str) -> None:
    """Paper cannot be scrolled; 794 pixels are the width of A4."""
    visitor = chromium.visitor(site.origin, viewport={"width": 794, "height": 1123})
    page = visitor.open(address)
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= 794
    assert not page.is_visible("footer")
    visitor.close()


def test_printed_tables_of_many_columns_lie_across_and_fit(site: Site, chromium: Chromium) -> None:
    """Of a season of forty problems paper showed ten; 1047 pixels are A4 across less margins."""
    visitor = chromium.visitor(site.origin, viewport={"width": 1047, "height": 718})
    page = visitor.open("/c/autumn/matrix")
    page.emulate_media(media="print")
    width, kind = page.evaluate(
        """() => {
          const table = document.querySelector('.matrix');
          for (const row of table.rows)
            for (let more = 0; more < 40; more++) row.append(row.lastElementChild.cloneNode(true));
          return [document.documentElement.scrollWidth, getComputedStyle(table).page];
        }"""
    )
    assert (width, kind) == (1047, "wide")
    visitor.close()


def test_a_long_name_takes_three_lines_of_a_board_at_most(site: Site, chromium: Chromium) -> None:
    """A name of two hundred letters would push all other rows off a phone."""
    visitor = chromium.visitor(site.origin, viewport=NARROW)
    page = visitor.open("/c/arena")
    height, line = page.evaluate(
        """() => {  // at once: a board that gets events may replace its rows
          const name = document.querySelector('.board tbody th a bdi');
          name.textContent = 'a'.repeat(200);
          return [name.clientHeight, parseFloat(getComputedStyle(name).lineHeight)];
        }"""
    )
    assert 2 * line < height <= 3 * line + 1
    visitor.close()


@pytest.mark.sample(1)
@pytest.mark.parametrize("address", ["/", "/c/community", "/c/arena", "/c/arena/rules"])
def test_a_page_is_light(site: Site, chromium: Chromium, address: str) -> None:
    """Phones pay for bytes; benchmarks/site.py measures the times."""
    visitor = chromium.visitor(site.origin)
    visitor.open(address)
    sizes: Counter[str] = Counter()
    for request in visitor.requests:
        if request.resource_type not in {"eventsource", "fetch"}:
            sizes[request.resource_type] += len(request.response().body())
    assert sizes["document"] <= 60_000
    assert sizes["script"] <= 30_000
    assert sizes["stylesheet"] <= 40_000
    assert sizes.total() <= 250_000
    assert len(visitor.requests) <= 10
    visitor.close()
