"""The pages of a challenge's epochs: where the emission went, what is ahead, the payload."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Final

import orjson
from markupsafe import Markup

from agon.api.models.analysis import Epoch, EpochBurn
from agon.api.models.contests import Contest
from agon.disciplines import discipline
from agon.errors import NotFound
from agon.web import addresses
from agon.web.labels import weight_labels
from agon.web.page import SitePage, Visit
from agon.web.pages.boards.board_columns import label_of
from agon.web.pages.boards.board_rows import cell_texts
from agon.web.pages.boards.epoch_shares import epoch_shares, miner_text
from agon.web.pages.empty import or_empty

SHARES: Final = (
    ("paid", "paid to miners", "what strategies, decay and the cap leave"),
    ("decay", "burned by decay", "no score improved for longer than the grace, or none is above 0"),
    ("cap", "burned by the cap", "a miner may not get more"),
    ("unassigned", "not assigned", "no competition has this share of the emission"),
    ("own", "earned by the uid that burns", "what it or a hotkey without a uid earns is burned"),
)
"""Where the emission goes: field, name, reason. The shares of an epoch sum to 1, or to more where
the burn is added to what miners get (rule ``burn_application``), or to less where the cap drops."""

_NUMBER: Final = re.compile("-?[0-9]{1,15}")

_SAID_BY_SCORE: Final = {"validators": "Share of stake"}
"""By board what heads the column of scores; on the others another column has the same numbers."""


@dataclass(frozen=True)
class Share:
    """A share of the emission, with its bar in percent of all emission."""

    name: str
    reason: str
    share: float
    start: float
    width: float


@dataclass(frozen=True)
class EpochTable:
    """A board of an epoch.

    Attributes:
        board: its name.
        title: what heads it.
        heads: of its columns, after that of the ids.
        rows: of each row its id, and the values of the columns as HTML.
    """

    board: str
    title: str
    heads: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Markup]]]


@or_empty
def epochs(visit: Visit) -> SitePage:
    """Return the last epochs, the newest first, and the forecast of the decay."""
    contest = visit.contest()
    listed = visit.api.analysis.epochs(contest.id, as_of=visit.as_of)
    return SitePage(
        template="epochs.html",
        title=f"Epochs · {contest.title}",
        values={
            "contest": contest,
            "listed": listed,
            "shares": epoch_shares(listed, contest) if len(listed.items) > 1 else None,
            "rows": [(each, shares(each)) for each in reversed(listed.items)],
            "competitions": listed.forecast["competitions"],
            "forecast": _forecast(listed.forecast),
            "as_of": visit.as_of,
        },
        data=addresses.api("contests", contest.id, "epochs", as_of=visit.as_of),
        summary=f"epochs {listed.first} to {listed.last}",
    )


def epoch(visit: Visit) -> SitePage:
    """Return an epoch: where the emission went, the weights, the validators, the payload.

    Raises:
        NotFound: the number is none.
    """
    contest, text = visit.contest(), visit.path["n"]
    if not _NUMBER.fullmatch(text):
        raise NotFound(f"there is no epoch {text[:80]!r}; see the list of epochs")
    shown = visit.api.analysis.epoch(contest.id, int(text), as_of=visit.as_of)
    label, _ = weight_labels(contest)
    return SitePage(
        template="epoch.html",
        title=f"Epoch {text} · {contest.title}",
        values={
            "contest": contest,
            "epoch": shown,
            "shares": shares(shown.burn),
            "named": lambda uid: miner_text(label(uid), shown.hotkeys.get(uid)),
            "tables": _tables(contest, shown),
            "payload": orjson.dumps(shown.payload).decode(),
            "as_of": visit.as_of,
        },
        data=addresses.api("contests", contest.id, "epochs", text, as_of=visit.as_of),
        summary=f"epoch {text}",
    )


def shares(burn: EpochBurn) -> Sequence[Share]:
    """Return where the emission went: each bar begins where the one before ends.

    The bars of shares that sum to more than 1 fill the width together.

    Example:
        >>> burn = EpochBurn(epoch=3, paid=0.6, decay=0.4, unassigned=0, own=0, cap=0, burn=0.4)
        >>> [(share.name, share.start, share.width) for share in shares(burn)]
        [('paid to miners', 0.0, 60.0), ('burned by decay', 60.0, 40.0)]
        >>> added = EpochBurn(epoch=3, paid=1, decay=0.25, unassigned=0, own=0, cap=0, burn=0.25)
        >>> [(share.share, share.start, round(share.width, 6)) for share in shares(added)]
        [(1.0, 0.0, 80.0), (0.25, 80.0, 20.0)]
    """
    present = [
        (name, reason, share) for key, name, reason in SHARES if (share := getattr(burn, key))
    ]
    whole = max(1.0, sum(share for _, _, share in present))
    ends = accumulate((share / whole for _, _, share in present), initial=0.0)
    return [
        Share(name, reason, share, 100 * start, 100 * (end - start))
        for (name, reason, share), (start, end) in zip(present, pairwise(ends), strict=True)
    ]


def _tables(contest: Contest, shown: Epoch) -> list[EpochTable]:
    """Return the boards of validators and competitions, those that have rows."""
    names = discipline(contest.discipline).epochs
    if names is None:
        return []
    boards = (
        (names.validators, "Validators: stake and outliers", shown.validators),
        (names.competitions, "Competitions: decay", shown.competitions),
    )
    return [_table(contest.discipline, *each) for each in boards if each[2]]


def _table(
    discipline_name: str, board: str, title: str, rows: Sequence[Mapping[str, Any]]
) -> EpochTable:
    """Return a board with the headings and the numbers of its own page."""
    columns = [name for name in rows[0] if name != "id"]
    if board not in _SAID_BY_SCORE:
        columns.remove("score")
    heads = {name: label_of(discipline_name, board, name, is_head=True) for name in columns}
    heads |= {"score": _SAID_BY_SCORE[board]} if board in _SAID_BY_SCORE else {}
    meaning = discipline(discipline_name).traits.meaning
    texts = [cell_texts([row[name] for row in rows], meaning(board, name)) for name in columns]
    cells = zip(*texts, strict=True)
    return EpochTable(
        board,
        title,
        list(heads.values()),
        [
            (row["id"], [Markup(text) for text in own])  # noqa: S704 - they are HTML
            for row, own in zip(rows, cells, strict=True)
        ],
    )


def _forecast(forecast: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return an epoch a row with the burn of each competition and of the network."""
    rows: dict[int, dict[str, Any]] = {}
    for row in forecast["rows"]:
        target = rows.setdefault(
            row["epoch"], {"epoch": row["epoch"], "network": row["network_burn"], "burn": {}}
        )
        target["burn"][row["competition"]] = row["burn_percent"]
    return list(rows.values())
