"""What kind of content a file has, and in which encoding."""
