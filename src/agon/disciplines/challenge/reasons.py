"""Write the reasons why a submission or a miner has no score."""

from agon.disciplines.challenge.consensus import Status
from agon.disciplines.challenge.outcome import Outcome
from agon.kernel.rounding import publish
from agon.kernel.text.captions import count_text

_NAMED = 3
"""Maximum number of a miner's submissions named in a reason."""


_DIGITS, _MAX_DIGITS = 6, 17
"""Significant digits of a percentage, and as many as a float has."""


_SMALLEST = 1e-6
"""The smallest number that six decimals show."""


def percent(part: float) -> str:
    """Write a part of 1 in percent.

    Example:
        >>> percent(0.3), percent(1 / 3)
        ('30 %', '33.3333 %')
    """
    return f"{publish(100 * part):.{_DIGITS}g} %"


def percents_apart(part: float, limit: float) -> tuple[str, str]:
    """Write a part of 1 and its limit in percent, with as many digits as show the difference.

    Example:
        >>> percents_apart(0.2, 0.3), percents_apart(0.9999999, 1)
        (('20 %', '30 %'), ('99.99999 %', '100 %'))
    """
    texts = percent(part), percent(limit)
    digits = _DIGITS
    while texts[0] == texts[1] and part != limit and digits < _MAX_DIGITS:
        digits += 1
        texts = f"{100 * part:.{digits}g} %", f"{100 * limit:.{digits}g} %"
    return texts


def number(value: float) -> str:
    """Return a number in readable form.

    Example:
        >>> number(0.86), number(-40.47), number(9000.0)
        ('0.86', '-40.47', '9,000')
        >>> number(5e-7)  # above 0, so it is not shown as 0
        '5e-07'
    """
    if value and abs(value) < _SMALLEST:
        return f"{value:.3g}"
    text = f"{publish(value):,.6f}"
    return text.rstrip("0").rstrip(".")


def unscored_reason(outcome: Outcome, submission: int) -> str:
    """Return why a submission has no score; ``submission`` is its number."""
    consensus, rules = outcome.consensus, outcome.rules_of(submission)
    reports = consensus.reports
    status = Status(int(consensus.status[submission]))
    if status is Status.DUPLICATE:
        first = int(outcome.network.eligibility.originals[submission])
        return (
            f"has the same content as {outcome.submissions.ids[first]}, which was "
            f"submitted earlier (duplicate_content = {rules.duplicate_content})"
        )
    if status is Status.UNREGISTERED:
        return unregistered_reason(outcome, submission)
    if status is Status.NOT_EVALUATED:
        return f"no validator's evaluation counts at epoch {reports.epoch}"
    if status is Status.NO_QUORUM:
        return (
            f"{count_text(int(reports.counted[submission].sum()), 'validator')} reported; "
            f"at least {rules.min_validators} must (min_validators)"
        )
    fraction = float(consensus.stake_fractions[submission])
    if fraction == 0:
        return "no stake stands behind the evaluations that count"
    have, needed = percents_apart(fraction, rules.min_stake_fraction)
    return (
        f"{have} of all stake stands behind the evaluations that count; "
        f"at least {needed} must (min_stake_fraction)"
    )


def unregistered_reason(outcome: Outcome, submission: int) -> str:
    """Return that the hotkey of a submission holds no uid in the epoch."""
    hotkey = outcome.submissions.owner_name(int(outcome.submissions.owners[submission]))
    return (
        f"its hotkey {hotkey} holds no uid in epoch {outcome.epoch} (registrations; "
        f"unregistered = {outcome.network.rules.unregistered})"
    )


def weightless_reason(outcome: Outcome, uid: int) -> str:
    """Return why a miner is not on the board: none of its submissions is scored."""
    submissions = outcome.submissions
    named = sorted(outcome.of_miner[uid], key=lambda index: int(submissions.turns[index]))
    said = [
        f"{submissions.ids[index]}: {unscored_reason(outcome, index)}" for index in named[:_NAMED]
    ]
    more = len(named) - _NAMED
    if more > 0:
        said.append(f"and {more:,} more")
    return "no submission is scored; " + "; ".join(said)
