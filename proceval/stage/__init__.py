"""One file per stage: each reads what the stage before wrote in the run folder and writes its own file."""
