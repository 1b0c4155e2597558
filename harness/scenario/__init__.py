"""Scenario files and the cases they stand for."""
