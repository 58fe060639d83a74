"""Run a call into the database while Python does something else."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Event, Thread


def run_in_thread(work: Callable[[], object]) -> Callable[[], None]:
    """Start work in a new thread; return a function that waits for its end and raises its error.

    A Python thread that computes holds the interpreter lock for five milliseconds. So this returns
    only when the work has begun: work that is a single call into the database then releases the
    lock at once and runs in parallel with the caller.

    Example:
        >>> results = []
        >>> run_in_thread(lambda: results.append(1))()
        >>> results
        [1]
    """
    result: Future[None] = Future()
    began = Event()

    def run() -> None:
        began.set()
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised in the thread that waits
            result.set_exception(error)
        else:
            result.set_result(None)

    Thread(target=run, name="agon-database").start()
    began.wait()
    return result.result
