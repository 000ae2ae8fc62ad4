"""What wakes a worker, never the truth."""

from penstock.brokers.postgres import PostgresBroker

BROKERS = (PostgresBroker,)
