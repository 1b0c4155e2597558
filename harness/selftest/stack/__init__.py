"""Tests of harness/stack."""
