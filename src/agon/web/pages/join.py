"""The page that the link of an invitation leads to; the code behind # is not sent to the server."""

from agon.web.page import Page, Visit


def join(visit: Visit) -> Page:
    """Return how an invitation is accepted."""
    del visit
    return Page(template="join.html", title="Accept an invitation", values={})
