"""Run untrusted programs and agents: adapters of the ports in :mod:`agon.app`."""
