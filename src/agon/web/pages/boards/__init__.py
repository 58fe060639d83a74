"""Boards and what is drawn beside them: columns, rows, pictures, changes since a time."""
