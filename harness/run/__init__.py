"""Plays a case and judges its ledger."""
