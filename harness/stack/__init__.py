"""Starts and stops what is under test: one engine per way to run a service, one assembly for all of them."""
