"""Answer HTTP: the API of the service, under ``/api/v1``. It parses, calls and renders."""
