"""Commands that are made from operations of the API.

``commands.json`` describes them, so that neither a list of commands, nor a help text, nor a shell
that completes one has to import the operations. ``python -m agon.cli.generated.description`` writes
it; a test compares it with the operations.
"""
