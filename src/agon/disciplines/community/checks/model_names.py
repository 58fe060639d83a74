"""Detect names that probably mean one model and count as several."""

from collections import defaultdict
from collections.abc import Iterator

from agon.disciplines.community.counts.difficulty import names_by_model
from agon.disciplines.community.counts.models import likeness
from agon.kernel.findings import Finding, Severity
from agon.records import Records


def find(records: Records) -> Iterator[Finding]:
    """Report models whose normal forms have the same words and numbers, however separated."""
    models = names_by_model(records)
    by_likeness: dict[str, list[str]] = defaultdict(list)
    for normal in models:
        by_likeness[likeness(normal)].append(normal)
    for group in by_likeness.values():
        if len(group) > 1:
            names = [name for normal in group for name in models[normal]]
            yield Finding(
                "model-spellings", Severity.WARNING, tuple(sorted(group)),
                "models that differ in the spelling of their name", len(group), 1.0, None,
                f"{', '.join(sorted(names))} count as {len(group)} models; if they are one, give "
                "them one name",
            )  # fmt: skip
