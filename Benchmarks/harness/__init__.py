"""What scripts/benchmark does: file systems and commands measured side by side, results told and drawn."""
