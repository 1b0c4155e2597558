"""Tests of harness/cli."""
