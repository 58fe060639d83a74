"""Raise the errors of a Spark Connect server as those of this package."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from agon.errors import Unavailable


@contextmanager
def answers(server: str) -> Iterator[None]:
    """Run requests to a server.

    Args:
        server: its name in messages.

    Raises:
        Unavailable: the server failed, or does not answer.
    """
    from grpc import RpcError
    from pyspark.errors import PySparkException

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that a retry was the last one
            yield
    except (PySparkException, RpcError) as error:
        text = error.details() if isinstance(error, RpcError) else str(error)
        reason = (text.splitlines() or [type(error).__name__])[0]
        raise Unavailable(f"{server} failed: {reason}") from error
