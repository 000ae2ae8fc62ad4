"""Commands for schedules, retention and feeds."""
