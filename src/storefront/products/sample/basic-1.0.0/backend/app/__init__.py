"""The starter kit's backend."""
