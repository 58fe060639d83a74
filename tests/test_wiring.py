"""The sandbox for showing things steps down for want of one, never because one does not hold."""

import pytest

from agon import wiring
from agon.app.ports import Escaped, Mode, Sandbox
from agon.errors import Unavailable


def _opening(monkeypatch: pytest.MonkeyPatch, refusal: Exception) -> list[str]:
    """Let the best wall be refused; return the modes that are asked for."""
    asked: list[str] = []

    def opened(mode: Mode = "bwrap", *, workers: int | None = None) -> Sandbox:  # noqa: ARG001 (the signature)
        asked.append(mode)
        raise refusal

    monkeypatch.setattr(wiring, "sandbox", opened)
    return asked


def test_a_missing_wall_is_stepped_down_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without namespaces can still show the example."""
    asked = _opening(monkeypatch, Unavailable("bwrap is missing"))
    with pytest.raises(Unavailable, match="missing"):
        wiring.any_sandbox()
    assert asked == ["bwrap", "degraded"]


def test_a_wall_that_does_not_hold_is_not_stepped_down_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where a hostile program gets out of the best wall, the weaker one is no remedy."""
    asked = _opening(monkeypatch, Escaped("the sandbox does not hold"))
    with pytest.raises(Escaped):
        wiring.any_sandbox()
    assert asked == ["bwrap"]
