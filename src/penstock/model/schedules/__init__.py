"""When schedules are due, and what they do."""
