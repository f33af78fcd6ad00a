"""Models: what answers chat requests. Keys come from the environment and go nowhere else."""
