"""Publish dojo problems and accept what participants submit."""
