"""The layers that every request passes before a route answers it."""
