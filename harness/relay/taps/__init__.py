"""One small file per tap."""
