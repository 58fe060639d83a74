"""Run contests on a ledger: create, record, publish, freeze, change, replay."""
