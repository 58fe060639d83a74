"""Run what nobody trusts: adapters for the ports of :mod:`agon.app.sandbox`."""
