"""Render pages: templates, and how values are written in them."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from math import floor, log10
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from agon.api.models.contests import Contest
from agon.app.access.permissions import permits
from agon.disciplines import discipline
from agon.entities.webhooks import EVENT_KINDS
from agon.kernel.text.bidi import isolated_text
from agon.kernel.text.captions import noun_text
from agon.kernel.text.participants import short_id
from agon.web import addresses
from agon.web.directions import closed_html
from agon.web.form_times import ZONES
from agon.web.names import participant, sentence_html
from agon.web.page import SitePage

_DIGITS: Final = 6
_SMALL: Final = 0.001
_TINY: Final = 1e-9  # smaller numbers have an exponent instead of zeros
_NUMBERS: Final = (int, float)
_SPELLED: Final = {"bradley terry": "Bradley–Terry", "h index": "h-index", "elo": "Elo"}
"""The spelling of terms of the field that the names of boards and columns have in other letters."""

_TERMS: Final = re.compile(rf"\b(?:{'|'.join(_SPELLED)})\b")


def number_text(value: Any) -> str:
    """Return a number with separators and at most six significant digits.

    Example:
        >>> number_text(2057.0), number_text(0.05652826), number_text(-1234567), number_text(None)
        ('2,057', '0.0565283', '−1,234,567', '')
        >>> number_text(["v1", "v2"]), number_text([]), number_text(0.00005)
        ('v1, v2', 'none', '0.00005')
        >>> number_text(5e-13)
        '5e−13'
    """
    if type(value) is int:  # most values are
        return f"{value:,}" if value >= 0 else f"−{-value:,}"
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        text = f"{int(value):,}"
    elif isinstance(value, float):
        decimals = 1 if abs(value) >= 10 ** (_DIGITS - 2) else None
        text = f"{value:,.1f}" if decimals else f"{value:,.{_DIGITS}g}"
        if "e" in text and abs(value) >= _TINY:
            text = f"{value:.{_DIGITS - 1 - floor(log10(abs(value)))}f}".rstrip("0")
    elif isinstance(value, list | tuple):
        return ", ".join(map(number_text, value)) or "none"
    else:
        return str(value)
    return text.replace("-", "−")


def aligned_texts(values: Sequence[Any], *, places: int | None = None) -> list[str]:
    """Return the texts of a column's values: its numbers have equally many decimals.

    The largest has at most six significant digits. One that is nearer to 0 than the last decimal
    has as many decimals as it needs.

    Args:
        values: of the column.
        places: decimals to which numbers of at least 0.001 are rounded; None: not rounded.

    Example:
        >>> aligned_texts([2057.0, 968.5, None]), aligned_texts([0.714286, 1, 0.5], places=4)
        (['2,057.0', '968.5', ''], ['0.7143', '1.0000', '0.5000'])
        >>> aligned_texts([1196.6123, 874.4063, -0.001])
        ['1,196.61', '874.41', '−0.001']
    """
    if float not in map(type, values):
        return [number_text(value) if type(value) is int else cell_text(value) for value in values]
    rounded = [
        round(value, places) if places and type(value) is float and abs(value) >= _SMALL else value
        for value in values
    ]
    texts = [cell_text(value) for value in rounded]
    numbers = [value for value in rounded if type(value) in _NUMBERS]
    exact = max(len(text.partition(".")[2]) for value, text in zip(rounded, texts, strict=True)
                if type(value) is float)  # fmt: skip
    if not exact:
        return texts
    digits_before = floor(log10(max(map(abs, numbers)))) + 1
    decimals = min(exact, max(1, _DIGITS - digits_before))
    return [
        f"{value:,.{decimals}f}".replace("-", "−")
        if type(value) in _NUMBERS and (not value or abs(value) >= 0.5 * 10.0**-decimals)
        else text
        for value, text in zip(rounded, texts, strict=True)
    ]


def signed_text(value: float) -> str:
    """Return a number with its sign.

    Example:
        >>> signed_text(5), signed_text(-2.5), signed_text(0)
        ('+5', '−2.5', '0')
    """
    return f"+{number_text(value)}" if value > 0 else number_text(value)


def counted_text(count: float, noun: str) -> str:
    """Return a number with what is counted, in the singular or the plural.

    Example:
        >>> counted_text(1, "match"), counted_text(1200, "match"), counted_text(0, "epoch")
        ('1 match', '1,200 matches', '0 epochs')
    """
    return f"{number_text(count)} {noun_text(count, noun)}"


def time_text(value: datetime) -> str:
    """Return a time to the minute, in UTC.

    Example:
        >>> time_text(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
        '2026-01-02 03:04 UTC'
    """
    return f"{value.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def clock_text(contest: Contest) -> str:
    """Return where a contest is in time, in words; of a state of the past only its state.

    Example:
        >>> from types import SimpleNamespace
        >>> clock = SimpleNamespace(phase="open", void_reason=None, amendment=None, next="end",
        ...                         next_at=datetime(2026, 12, 24, 18, tzinfo=UTC))
        >>> clock_text(SimpleNamespace(clock=clock))
        'Open: ends 2026-12-24 18:00 UTC'
    """
    clock = contest.clock
    if clock is None:
        return contest.state.capitalize()
    text = clock.phase.capitalize()
    if clock.void_reason is not None:
        return f"{text}: {isolated_text(clock.void_reason)}"
    if clock.amendment is not None:
        reason = clock.amendment.reason
        because = "" if reason is None else f": {isolated_text(reason)}"
        return f"{text} {time_text(clock.amendment.at)}{because}"
    if clock.next_at is not None:
        return f"{text}: {clock.next}s {time_text(clock.next_at)}"
    if clock.phase == "ended" and contest.ends_at is not None:
        return f"{text} {time_text(contest.ends_at)}"
    return text


def phase_of(contest: Contest) -> str:
    """Return the word for where a contest is in time; of a state of the past its state."""
    return contest.state if contest.clock is None else contest.clock.phase


def words(name: str) -> str:
    """Return a name of the records in words.

    Example:
        >>> words("h_index"), words("user-score"), words("bradley-terry"), words("elo_before")
        ('h-index', 'user score', 'Bradley–Terry', 'Elo before')
    """
    return _TERMS.sub(lambda term: _SPELLED[term[0]], name.replace("_", " ").replace("-", " "))


def part_name(name: str) -> str:
    """Return the name of a part of a score in words; an id in it stays as it is.

    Example:
        >>> part_name("quality_prompts"), part_name("match r1-2"), part_name("h_index")
        ('quality prompts', 'match r1-2', 'h-index')
    """
    kind, blank, rest = name.partition(" ")
    return words(short_id(kind)) + blank + short_id(rest)


def head_words(text: str) -> str:
    """Return words as they begin a heading: with a capital letter, terms as they are spelled.

    Example:
        >>> head_words("rating of Bradley–Terry"), head_words("h-index"), head_words("stake")
        ('Rating of Bradley–Terry', 'h-index', 'Stake')
    """
    return text if text.startswith(tuple(_SPELLED.values())) else text[:1].upper() + text[1:]


def web_host(address: str) -> str:
    """Return the host and the path of a web address, as a link shows it.

    Example:
        >>> web_host("https://example.org/ada-bot/"), web_host("http://example.org:8080/")
        ('example.org/ada-bot', 'example.org:8080')
    """
    return address.partition("://")[2].rstrip("/")


def link_html(address: str) -> Markup:
    """Return a link to a page of another site, which says nothing of where one came from."""
    return Markup('<a href="{}" rel="nofollow ugc noopener noreferrer">{}</a>').format(
        address, web_host(address)
    )


def for_both_widths(draw: Callable[[bool], str]) -> Markup:
    """Return a chart as it is drawn for wide pages and for phones; the style sheet shows one.

    Args:
        draw: returns the chart as SVG, with everything escaped; laid out for a phone if True.
    """
    return Markup(draw(False) + draw(True))  # noqa: S704 - it escapes


def cell_text(value: Any) -> str:
    """Return a value of a row: a number, text in which a hash is shortened, or names with values.

    Example:
        >>> cell_text(1234), cell_text("ada"), cell_text(None), cell_text({"user-score": 3})
        ('1,234', 'ada', '', 'user score 3')
    """
    if type(value) in _NUMBERS:  # before others: to ask whether it is a mapping takes longer
        return number_text(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{words(name)} {cell_text(each)}" for name, each in value.items())
    return short_id(value) if isinstance(value, str) else number_text(value)


def share_texts(values: Sequence[Any]) -> list[Markup]:
    """Return the shares of a column in percent as HTML, whose titles have the exact values.

    Example:
        >>> [str(text) for text in share_texts([0.125, None])]
        ['<span title="0.125">12.5 %</span>', '']
    """
    texts = aligned_texts([None if value is None else 100 * value for value in values], places=2)
    return [
        Markup('<span title="{}">{} %</span>').format(value, text) if text else Markup("")
        for value, text in zip(values, texts, strict=True)
    ]


def share_text(share: float | None) -> str:
    """Return a share in percent; empty: there is none.

    Example:
        >>> share_text(0.195462), share_text(None)
        ('19.55 %', '')
    """
    return str(share_texts([share])[0].striptags())


def scores_html(discipline_name: str, board: str, scores: Sequence[float | None]) -> Sequence[str]:
    """Return a column of scores as HTML: shares in percent, others with equally many decimals.

    Example:
        >>> [str(text) for text in scores_html("arena", "bots", [1024.0, 998.5])]
        ['1,024.0', '998.5']
    """
    texts = share_texts if is_share_of(discipline_name, board) else aligned_texts
    return [Markup(text) for text in texts(scores)]  # noqa: S704 - numbers, or escaped


def score_text(discipline_name: str, board: str, score: float | None) -> str:
    """Return a score, or points of it, as text: a share in percent, others as numbers.

    Example:
        >>> score_text("challenge", "weights", 0.125), score_text("arena", "bots", 1024.0)
        ('12.5 %', '1,024')
        >>> score_text("challenge", "weights", None)
        ''
    """
    return share_text(score) if is_share_of(discipline_name, board) else number_text(score)


def score_html(discipline_name: str, board: str, score: float | None) -> Markup:
    """Return what :func:`score_text` returns as HTML; the title of a share has the exact value.

    Example:
        >>> print(score_html("challenge", "weights", 0.125), score_html("arena", "bots", 1024.0))
        <span title="0.125">12.5 %</span> 1,024
    """
    if is_share_of(discipline_name, board):
        return share_texts([score])[0]
    return Markup(number_text(score))  # noqa: S704 - a number needs no escaping


def change_html(discipline_name: str, board: str, change: float) -> Markup:
    """Return a difference of scores, or points that add to one, with its sign.

    Example:
        >>> print(change_html("challenge", "weights", -0.02), change_html("arena", "bots", 12))
        <span title="-0.02">−2 %</span> +12
    """
    sign = "+" if change > 0 else ""
    return Markup("{}{}").format(sign, score_html(discipline_name, board, change))


def is_share_of(discipline_name: str, board: str) -> bool:
    """Return whether the scores of a board are shares, which are shown in percent."""
    meaning = discipline(discipline_name).traits.meaning(board, "score")
    return meaning is not None and meaning.is_share


@cache
def static_files() -> Mapping[str, tuple[str, bytes, str]]:
    """Return the static files: name → the name with a hash, content, media type."""
    folder = files("agon.web") / "static"
    types = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
             "svg": "image/svg+xml"}  # fmt: skip
    served = {}
    for file in folder.iterdir():
        stem, _, ending = file.name.rpartition(".")
        content = file.read_bytes()
        tag = hashlib.sha256(content).hexdigest()[:10]
        served[file.name] = (f"{stem}.{tag}.{ending}", content, types[ending])
    return served


def static_address(name: str) -> str:
    """Return the address of a static file, which changes with its content."""
    return f"{addresses.STATIC}/{static_files()[name][0]}"


@cache
def environment() -> Environment:
    """Return the templates; a missing value is an error, and all text is escaped."""
    environment = Environment(
        loader=PackageLoader("agon.web"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,  # else the files are looked at for each page
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "aligned": aligned_texts,
        "shares": share_texts,
        "clock": clock_text,
        "counted": counted_text,
        "isolated": isolated_text,
        "number": number_text,
        "signed": signed_text,
        "time": time_text,
        "words": words,
        "head_words": head_words,
        "link_html": link_html,
        "sentence_html": sentence_html,
        "part_name": part_name,
        "short_id": short_id,
    }
    environment.filters |= filters
    environment.globals |= {
        "address": addresses,
        "discipline": discipline,
        "event_kinds": " ".join(EVENT_KINDS),
        "participant": participant,
        "is_share_of": is_share_of,
        "score_html": score_html,
        "scores_html": scores_html,
        "change_html": change_html,
        "phase_of": phase_of,
        "permits": permits,
        "static": static_address,
        "time_zones": ZONES,
    }
    return environment


def render(page: SitePage, visitor: Mapping[str, Any]) -> str:
    """Return a page as HTML.

    Args:
        page: the page.
        visitor: what every page shows of the visitor.
    """
    template = environment().get_template(page.template)
    rendered = template.render(
        {
            **page.values,
            **visitor,
            "title": page.title,
            "summary": page.summary,
            "picture": page.picture,
        }
    )
    return closed_html(rendered)
