"""Compare the rules that a ledger, manifest or proof records with those of its edition here."""

from collections.abc import Mapping
from typing import Any

from agon.editions import compare_recorded
from agon.errors import AgonError, NotFound
from agon.ledger.issues import LedgerIssue

_INSTALL = "use the version of agon that has it"


def check_rules(edition: str, overrides: Mapping[str, Any], recorded: str) -> LedgerIssue | None:
    """Compare the recorded rules with those of the edition in this installation.

    Args:
        edition: the recorded edition's full name.
        overrides: the recorded overrides.
        recorded: the recorded ``rules_sha256``.

    Returns:
        An issue that names the edition and the rules; None where they are the recorded ones.

    Raises:
        NotFound: this agon has no such edition.
    """
    try:
        mismatch = compare_recorded(edition, overrides, recorded)
    except NotFound:
        raise
    except AgonError as error:  # an edition that was changed, a rule that was overridden
        return LedgerIssue(f"the rules of {edition} cannot be compared: {error}", _INSTALL)
    return None if mismatch is None else LedgerIssue(mismatch.what, mismatch.remedy)
