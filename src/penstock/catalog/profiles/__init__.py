"""Profiles: how the files of one supplier are mapped and checked."""
