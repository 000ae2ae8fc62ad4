"""Workers, lanes, leadership and the queue's level."""
