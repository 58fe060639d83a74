"""Read HTML strictly: every element is closed, every id is unique; links and inline code."""

from html.parser import HTMLParser

VOID = frozenset({"meta", "link", "input", "br", "hr", "img", "rect", "wbr"})
REFERENCES = frozenset(
    {"for", "list", "form", "aria-labelledby", "aria-describedby", "aria-controls"}
)
"""Attributes that name ids of elements on the same page."""


class Markup(HTMLParser):
    """Collects what tests look at in a page.

    Attributes:
        errors: what is wrong: elements closed in the wrong order, ids that are not unique or that
            no element has.
        links: the values of ``href`` and ``action`` of links and of forms that change nothing.
        resources: the values of ``href`` and ``src`` of what a browser loads.
        inline: scripts and styles that a content security policy forbids.
        text: the text.
        elements: every element in order as ``depth name``.
        ids: the ids of elements.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.errors: list[str] = []
        self.links: list[str] = []
        self.resources: list[str] = []
        self.inline: list[str] = []
        self.text = ""
        self.elements: list[str] = []
        self.ids: set[str] = set()
        self._open: list[str] = []
        self._references: set[str] = set()
        self.feed(page)
        self.close()
        self.errors += [f"{tag} is not closed" for tag in self._open]
        self.errors += [f"no element has the id {name}" for name in self._references - self.ids]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note links, ids and inline code; open an element that needs to be closed."""
        values = {name: value or "" for name, value in attrs}
        self.elements.append(f"{len(self._open)} {tag}")
        for name in REFERENCES & values.keys():
            self._references |= set(values[name].split())
        if tag not in VOID:
            self._open.append(tag)
        if tag == "a" or (tag == "form" and values.get("method") == "get"):
            self.links.append(values.get("href") or values.get("action", ""))
        if tag in {"link", "script", "img"} and values.get("rel") != "alternate":
            self.resources.append(values.get("href") or values.get("src", ""))
        if tag == "style" or (tag == "script" and "src" not in values):
            self.inline.append(tag)
        self.inline += [name for name in values if name == "style" or name.startswith("on")]
        if "id" in values:
            if values["id"] in self.ids:
                self.errors.append(f"two elements have the id {values['id']}")
            self.ids.add(values["id"])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element that closes itself, as in SVG."""
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        """Close the element that was opened last."""
        if tag in VOID:
            return
        if not self._open or self._open[-1] != tag:
            self.errors.append(f"line {self.getpos()[0]}: </{tag}> closes {self._open[-1:]}")
        else:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        """Collect text."""
        self.text += data
