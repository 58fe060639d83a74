"""Steps that cannot be undone: each has a page that shows its effect and asks for the contest."""

from typing import Final

from agon.api.models.contests import Contest
from agon.web.desk.forms import FormErrors
from agon.web.page import Visit

NAME: Final = "name"
"""The field into which the contest's id is typed; ``desk/confirmation.html`` has it."""


def is_asked(visit: Visit) -> bool:
    """Return whether a form is sent from the page that shows the effect of its step."""
    return NAME in visit.form


def confirmation_errors(visit: Visit, contest: Contest) -> FormErrors | None:
    """Return what is wrong with the id that was typed; None: the step is confirmed."""
    if visit.form.get(NAME, "").strip() == contest.id:
        return None
    return FormErrors(fields={NAME: (f"Type {contest.id}, the contest's name.",)})
