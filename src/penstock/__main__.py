"""`python -m penstock` is the same as `penstock`."""

from penstock.cli import main

main()
