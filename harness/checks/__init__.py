"""Checks: pure functions from a sealed ledger to a verdict and a finding. One file per property; `table` lists them.

To add one: write `harness/checks/<property>.py` with a `CHECK`, add its row to `table.CHECKS`, give it four ledgers in
`fixtures/histories/<property>/`, and name it in a mutant. `nothing` is the smallest example.

The process record knows commands of the shell tool only. File tools spawn nothing, so of `read_file`, `write_file` and `glob` it
is silent: that they ran once, or not at all, is told by the relays, SQL and the workspace.
"""
