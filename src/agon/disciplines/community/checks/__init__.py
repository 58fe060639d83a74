"""Checks that need more than a function: similar handles, rings, groups, expected feedback."""
