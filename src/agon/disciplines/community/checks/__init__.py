"""Checks that need more than a function: similar handles, rings of users, expected feedback."""
