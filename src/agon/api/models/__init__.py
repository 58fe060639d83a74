"""Requests and resources of the API; servers and clients use the same models."""
