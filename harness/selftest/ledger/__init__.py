"""The ledger's own tests: history and digest."""
