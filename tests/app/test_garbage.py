"""Test that the garbage collector is paused during long work and restored."""

import gc

import pytest

from agon.app.garbage import gc_paused


def _fail() -> None:
    """Raise an error within a nested pause."""
    with gc_paused():
        assert not gc.isenabled()
        with gc_paused():
            raise ZeroDivisionError


def test_the_collector_is_restored_after_the_work() -> None:
    """Also where it was off before, and after an error."""
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        _fail()
    assert gc.isenabled()
