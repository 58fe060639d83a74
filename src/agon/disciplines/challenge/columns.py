"""State what the columns of the challenge's boards are."""

from collections.abc import Mapping
from typing import Any, Final

from agon.disciplines.capabilities import ColumnMeaning


def row_label(board: str, id: str, rules: Any) -> str:  # noqa: A002 (an id is called id everywhere)
    """Return what a row of a board is called: a miner by its uid, and the burn as such.

    Example:
        >>> from types import SimpleNamespace
        >>> rules = SimpleNamespace(burn_uid=0)
        >>> [row_label("weights", uid, rules) for uid in ("5", "0")]
        ['uid 5', 'uid 0 (burn)']
        >>> row_label("validators", "5", rules)
        '5'
    """
    if board != "weights":
        return id
    return f"uid {id} (burn)" if id == str(rules.burn_uid) else f"uid {id}"


COLUMNS: Final[Mapping[str, ColumnMeaning]] = {
    "weights.score": ColumnMeaning(
        "The weight on the chain: the share of the emission; row 0 is what is burned.",
        "share of the emission",
        ("strategy", "weight_cap", "max_burn"),
    ),
    "weight": ColumnMeaning(
        "The share of the emission, as the score.", "share of the emission", ("strategy",)
    ),
    "u16": ColumnMeaning(
        "The weight as the chain takes it.", "of 65535", ("rounding",), label="u16"
    ),
    "amount": ColumnMeaning("What the weight pays.", "of the emission", ("emission_total",)),
    "hotkey": ColumnMeaning("The hotkey that holds the uid in this epoch, and is paid."),
    "submissions.score": ColumnMeaning(
        "The consensus: the mean of the validators' evaluations by stake, without outliers.",
        rules=("outlier_threshold", "outlier_weights", "min_stake_fraction"),
    ),
    "validators": ColumnMeaning(
        "Validators whose evaluations count.", "validators", ("min_validators",)
    ),
    "outliers": ColumnMeaning(
        "Evaluations that are far from the median of the others.",
        "evaluations",
        ("outlier_threshold", "exclude_outliers"),
    ),
    "stake_fraction": ColumnMeaning(
        "The share of all stake that the validators behind the consensus have.",
        "share",
        ("min_stake_fraction",),
    ),
    "miner_uid": ColumnMeaning("The uid of the miner who submitted it."),
    "competition": ColumnMeaning("The competition it was submitted to."),
    "reach": ColumnMeaning(
        "What the agent could reach as its tasks ran: none, listed hosts by a proxy, or public.",
        label="Could reach",
    ),
    "validators.score": ColumnMeaning("The validator's share of all stake.", "share"),
    "stake": ColumnMeaning("The validator's stake at the epoch."),
    "evaluations": ColumnMeaning("Evaluations that count.", "evaluations", ("evaluation_window",)),
    "flagged": ColumnMeaning(
        "Evaluations of the validator that are outliers.", "evaluations", ("outlier_threshold",)
    ),
    "mean_abs_z": ColumnMeaning(
        "The mean distance of the evaluations from the median, in modified z-scores.",
        "z-scores",
        ("outlier_threshold", "outlier_min_values"),
        label="Mean distance",
    ),
    "competitions.score": ColumnMeaning(
        "The top score: the one that has to be improved on.",
        rules=("improvement", "improvement_threshold"),
    ),
    "top": ColumnMeaning(
        "The top score, as the score.", rules=("improvement", "improvement_threshold")
    ),
    "best": ColumnMeaning("The highest consensus, whether it counted as an improvement or not."),
    "last_improvement": ColumnMeaning(
        "The epoch of the last improvement.", "epoch", ("improvement_threshold",)
    ),
    "stale": ColumnMeaning(
        "Epochs without an improvement after those of grace.", "epochs", ("grace_epochs",)
    ),
    "burn_percent": ColumnMeaning(
        "The part of the competition's emission that decay burns.",
        "percent",
        ("decay_curve", "decay_rate", "max_burn"),
    ),
    "emission_share": ColumnMeaning("The competition's share of the emission.", "share"),
    "miners": ColumnMeaning(
        "Miners with a share of the emission.", "miners", ("strategy", "top_n")
    ),
}
"""Column, or ``board.column`` → meaning."""
