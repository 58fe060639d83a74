"""The garbage collector stays out of long work, and comes back."""

import gc

import pytest

from agon.app.garbage import gc_paused


def _fail() -> None:
    """Fail in the middle of the work of another."""
    with gc_paused():
        assert not gc.isenabled()
        with gc_paused():
            raise ZeroDivisionError


def test_the_collector_is_as_it_was_after_the_work() -> None:
    """Whoever had turned it off, and whatever went wrong."""
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        _fail()
    assert gc.isenabled()
