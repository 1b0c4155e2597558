"""Checks on hand-written ledgers, without a stack."""
