"""Pages of lists: limits and cursors."""

import base64
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import orjson

from agon.api.models.base import Page
from agon.errors import Unreadable
from agon.kernel.text.plain_json import unstorable

T = TypeVar("T")
I = TypeVar("I")  # noqa: E741 (an item)

MAX_LIMIT: Final = 500


@dataclass(frozen=True)
class PageRequest:
    """Which page of a list is wanted.

    Attributes:
        limit: its items.
        cursor: where it begins, as an earlier page returned it; None: at the beginning.
    """

    limit: int
    cursor: str | None = None

    @property
    def sought(self) -> int:
        """One more than the limit: whether there is a next page is seen by the last one."""
        return self.limit + 1

    def after(self, kind: type[T]) -> T | None:
        """Return the key that the page begins after; None: at the beginning.

        Raises:
            Unreadable: the cursor is not one of this service.
        """
        key: T | None = after(self.cursor, kind=kind)
        return key

    def page(
        self, rows: Sequence[I], *, key: Callable[[I], object], item: Callable[[I], T]
    ) -> Page[T]:
        """Return a page of the items that were found.

        Args:
            rows: at most :attr:`sought` items.
            key: returns what the next page begins after, of the last item.
            item: returns the resource of an item.
        """
        visible = rows[: self.limit]
        more = len(rows) > self.limit
        return page_of(map(item, visible), next=cursor_of(key(visible[-1])) if more else None)


def page_of(items: Iterable[T], *, next: str | None) -> Page[T]:  # noqa: A002 (its JSON key)
    """Return a page; its items are not validated again."""
    return Page.model_construct(items=tuple(items), next=next)


def cursor_of(value: object) -> str:
    """Return a cursor that begins after a value.

    Example:
        >>> after(cursor_of("spring-2026"), kind=str)
        'spring-2026'
    """
    return base64.urlsafe_b64encode(orjson.dumps(value)).rstrip(b"=").decode()


def after(cursor: str | None, *, kind: type) -> Any:
    """Return the value a cursor begins after; None for no cursor.

    Raises:
        Unreadable: it is not one of this service.
    """
    if not cursor:
        return None
    try:
        value = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except ValueError:
        value = None
    if isinstance(value, bool) or not isinstance(value, kind) or not _is_storable(value):
        raise Unreadable("this cursor belongs to no page of this list; begin again without it")
    return value


def _is_storable(value: Any) -> bool:
    """Return whether a database can look for it: no NUL, no integer of more than 63 bits."""
    if isinstance(value, str):
        return 0 < len(value) <= MAX_LIMIT and unstorable(value) is None
    return isinstance(value, int) and 0 <= value < 1 << 63
