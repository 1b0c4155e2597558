"""The recorder on every edge between two services, and the faults that can act there."""
