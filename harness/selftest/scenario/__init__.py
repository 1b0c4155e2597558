"""Tests of harness/scenario."""
