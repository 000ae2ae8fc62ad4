"""Pure functions over text: redaction, JSON, e-mail addresses, encodings."""
