"""The implementation of scripts/benchmark: compares file systems and commands, and reports and plots the results."""
