"""Remove containers that have ended, several at a time, in a thread.

Removing one takes the engine as long as removing twenty.
"""

from threading import Condition, Thread

from agon.runners.containers.engine import CommandLine, EngineError

_GATHER_S = 0.5
_ENOUGH = 16


class ContainerRemover:
    """Removes containers in a thread that runs while there is something to remove."""

    def __init__(self, engine: CommandLine) -> None:
        self._engine = engine
        self._changed = Condition()
        self._waiting: list[str] = []
        self._thread: Thread | None = None
        self._closed = False

    def later(self, name: str) -> None:
        """Remove a container soon."""
        with self._changed:
            self._waiting.append(name)
            if self._thread is None:
                self._thread = Thread(target=self._work, name="removals", daemon=True)
                self._thread.start()
            self._changed.notify()

    def now(self, name: str) -> None:
        """Kill and remove a container; if that fails, it is removed later."""
        try:
            self._engine.remove([name])
        except EngineError:
            self.later(name)

    def close(self) -> None:
        """Wait until all requested removals have been tried."""
        with self._changed:
            self._closed = True
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._closed or len(self._waiting) >= _ENOUGH, timeout=_GATHER_S
                )
                names, self._waiting = self._waiting, []
                if not names:
                    self._thread = None
                    return
            try:
                self._engine.remove(names)
            except EngineError:
                continue  # at the end all of them are removed by label
