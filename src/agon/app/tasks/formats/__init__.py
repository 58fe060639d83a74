"""Task folders of public formats, read into tasks; each key is read, refused or harmless."""
