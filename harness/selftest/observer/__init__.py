"""Tests of harness/observer."""
