"""Code that executes hooks: one file per sort of hook."""
