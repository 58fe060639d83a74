"""Let the database work on one thing while Python works on another."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Event, Thread


def run_in_thread(work: Callable[[], object]) -> Callable[[], None]:
    """Begin work in a thread of its own; return what waits for its end and raises its error.

    Python's threads take turns, and one that computes keeps its turn for five milliseconds. So this
    returns once the work has begun: work that is one call into the database, with all it needs at
    hand, gives its turn up there and goes on beside the caller.

    Example:
        >>> found = []
        >>> run_in_thread(lambda: found.append(1))()
        >>> found
        [1]
    """
    done: Future[None] = Future()
    began = Event()

    def run() -> None:
        began.set()
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - it is raised where the end is waited for
            done.set_exception(error)
        else:
            done.set_result(None)

    Thread(target=run, name="agon-beside").start()
    began.wait()
    return done.result
