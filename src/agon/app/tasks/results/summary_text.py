"""Say in one line what agents of a run could reach and what they used."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from agon.kernel.text.captions import count_text

MARKS: Final = {"passed": "✓", "failed": "✗", "timeout": "t", "unscored": "?"}
"""The sign of each result of a trial."""


def reach_text(network: str, hosts: Sequence[str]) -> str:
    """Return what the agent could reach.

    Example:
        >>> reach_text("allowlist", ["api.example.com:443"])
        'the agent could reach api.example.com:443'
        >>> reach_text("none", [])
        'the agent had no network'
    """
    if network == "none":
        return "the agent had no network"
    reached = ", ".join(hosts) if network == "allowlist" else "the public network"
    return f"the agent could reach {reached}"


def usage_text(used: Mapping[str, Any], prices: Mapping[str, Any]) -> str:
    """Return what agents used in one line.

    Example:
        >>> used = {"steps": 2, "input_tokens": 1200, "output_tokens": 30, "cached_tokens": 900,
        ...         "cost_usd": 0.0123}
        >>> usage_text(used, {"date": "2026-11-01"})
        '2 steps · 1,200 tokens read (900 cached) · 30 written · 0.0123 USD (prices of 2026-11-01)'
    """
    cached = f" ({used['cached_tokens']:,} cached)" if used["cached_tokens"] else ""
    day = f" (prices of {prices['date']})" if prices.get("date") else ""
    cost = "" if used["cost_usd"] is None else f" · {used['cost_usd']:.4f} USD{day}"
    return (
        f"{count_text(used['steps'], 'step')} · {used['input_tokens']:,} tokens read{cached} · "
        f"{used['output_tokens']:,} written{cost}"
    )
