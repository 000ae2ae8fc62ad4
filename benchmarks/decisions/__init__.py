"""The measurements behind `docs/adr`; each runs alone: `python -m benchmarks.decisions.<name>`."""
