"""The parts of a weight that multiply, which as points would be a column of zeros."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from agon.kernel.explanations import Explanation, Part
from agon.web.rendering import number_text

_Inputs = Mapping[str, Any]


def _percent(share: float) -> str:
    percent = 100 * share
    # What is not 0 is not shown as 0.
    return f"{number_text(round(percent, 4) or float(f'{percent:.4g}'))} %"


_FACTORS: Final[Mapping[str, tuple[str, Callable[[_Inputs], str]]]] = MappingProxyType(
    {
        "evaluations": ("validators", lambda item: f"{item['validators']} counted"),
        "outliers": ("outliers", lambda item: f"{len(item['outliers'])} left out"),
        "stake": ("stake_fraction", lambda item: _percent(item["stake_fraction"])),
        "consensus": ("score", lambda item: number_text(item["score"])),
        "strategy": ("share", lambda item: _percent(item["share"])),
        "decay": ("burn_percent", lambda item: f"× {_percent(1 - item['burn_percent'] / 100)}"),
        "emission": ("emission_share", lambda item: f"× {_percent(item['emission_share'])}"),
        "cap": ("limit", lambda item: f"≤ {_percent(item['limit'])}"),
        "u16": ("u16", lambda item: number_text(item["u16"])),
    }
)
"""By the first word of a part's name: the input it needs, and the factor as text."""

_IN_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {"strategy": "by strategy", "decay": "after decay", "emission": "of the emission"}
)


@dataclass(frozen=True)
class Factors:
    """The factors of a weight.

    Attributes:
        products: of each competition its factors as a product, before the cap.
    """

    products: Sequence[tuple[str, str]]

    @staticmethod
    def of(part: Part) -> str:
        """Return the factor of a part that adds nothing by itself; empty: it is none.

        Example:
            >>> decay = Part("decay main", 0.0, {"burn_percent": 25.0}, {}, "")
            >>> Factors.of(decay), Factors.of(Part("other", 0.0, {}, {}, ""))
            ('× 75 %', '')
            >>> Factors.of(Part("strategy main", 5e-7, {"share": 5e-7}, {}, ""))
            '0.00005 %'
        """
        needed, text = _FACTORS.get(part.name.partition(" ")[0], ("", None))
        return "" if text is None or part.inputs.get(needed) is None else text(part.inputs)


def factors_of(explanation: Explanation) -> Factors:
    """Return the factors that an explanation states."""
    by_competition: dict[str, dict[str, str]] = {}
    for part in explanation.parts:
        kind, _, competition = part.name.partition(" ")
        if kind in _IN_WORDS and (text := Factors.of(part)):
            by_competition.setdefault(competition, {})[kind] = f"{text} {_IN_WORDS[kind]}"
    return Factors(
        [
            (name, " ".join(factors.values()))
            for name, factors in by_competition.items()
            if "strategy" in factors
        ]
    )
