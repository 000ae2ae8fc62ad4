"""The worker process: its loop, slots, heartbeat and measurements."""
