"""Changes to the system under test that a named check must notice."""
