"""Load, recompute and inspect graded HealthBench runs."""
