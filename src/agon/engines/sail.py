"""Start a Sail server in this process, for a session on it."""

import os

from agon.engines.spark import SparkConnect


def start_sail() -> SparkConnect:
    """Start a Sail server on loopback, and return a session on it."""
    os.environ.setdefault("RUST_LOG", "error")
    # The server ends with its session; by default it ends sessions that are idle for some minutes.
    os.environ.setdefault("SAIL_SPARK__SESSION_TIMEOUT_SECS", str(365 * 86_400))
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer(ip="127.0.0.1", port=0)
    server.start(background=True)
    host, port = server.listening_address
    return SparkConnect(f"sc://{host}:{port}", stop=server.stop)
