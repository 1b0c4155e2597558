"""Reads what the system under test left behind: SQL rows, workspaces, process records."""
