"""Processor time: charged to requests, shared among orgs."""
