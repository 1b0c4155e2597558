"""What can be put under test."""
