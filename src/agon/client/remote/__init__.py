"""Keep the promises of :mod:`agon.client.ports` over HTTP, one file for each noun."""
