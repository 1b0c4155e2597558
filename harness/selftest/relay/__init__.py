"""Tests of harness/relay."""
