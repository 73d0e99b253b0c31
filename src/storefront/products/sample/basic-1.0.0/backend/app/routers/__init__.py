"""Each module here defines `router`; main.py mounts it."""
