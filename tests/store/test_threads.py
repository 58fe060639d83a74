"""Work in a thread next to that of its caller."""

from threading import Event, get_ident

import pytest

from agon.store.connection.threads import run_in_thread


def test_the_caller_goes_on_while_the_work_is_done() -> None:
    """Each waits for the other once; one after the other they would wait for ever."""
    caller, worker = Event(), Event()
    result: list[int] = []

    def work() -> None:
        worker.set()
        assert caller.wait(60)
        result.append(get_ident())

    finish = run_in_thread(work)
    assert worker.wait(60)
    assert result == []
    caller.set()
    finish()
    assert result != [get_ident()]
    assert len(result) == 1


def test_what_goes_wrong_is_raised_where_the_end_is_waited_for() -> None:
    """The error of a thread would otherwise be lost."""

    def work() -> None:
        raise LookupError("nothing here")

    finish = run_in_thread(work)
    with pytest.raises(LookupError, match="nothing here"):
        finish()
