"""The console: problems, proofs, mutants and runs in a browser; plain modules load and count, `tabs/` only show."""
