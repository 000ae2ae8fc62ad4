"""A local server that behaves like the three shops and like three procurement APIs.

It is for tests, trials and demonstrations: `penstock sandbox` starts it, nothing else does. All of
its data follows from a seed.
"""
