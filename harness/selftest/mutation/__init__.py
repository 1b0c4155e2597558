"""Tests of harness/mutation."""
