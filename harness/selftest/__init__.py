"""Tests of the harness itself; the folders mirror the tree."""
