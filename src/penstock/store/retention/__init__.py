"""What is deleted after its time."""
