"""Choose light or dark colors."""

from agon.errors import Unreadable
from agon.web import addresses
from agon.web.cookies import THEMES
from agon.web.page import Redirect, Visit


def choose(visit: Visit) -> Redirect:
    """Store the choice in a cookie and return to the page.

    Raises:
        Unreadable: there is no such theme.
    """
    name = visit.form.get("theme", "")
    if name not in THEMES:
        raise Unreadable(f"theme: expected one of {', '.join(THEMES)}, got {name[:40]!r}")
    return Redirect(address=addresses.local(visit.form.get("next", "")), theme=name)
