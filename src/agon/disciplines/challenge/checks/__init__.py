"""Detect possible gaming by miners and validators: the parts of `integrity.py`."""
