"""The deterministic fake model: plays a script, journals every byte it is sent, fails on anything unexpected."""
