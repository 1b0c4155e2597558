"""The process that hosts the fake model and the relays, and keeps the journals."""
