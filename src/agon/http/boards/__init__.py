"""Boards over HTTP: pages, rows and downloads."""
