"""The mutants, one module per service that they change; `catalogue` joins them."""
