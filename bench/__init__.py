"""What hookline costs beside what the operating system costs: `python -m bench`."""
