"""Texts: names of people, what every file and database can hold, captions and tables."""
