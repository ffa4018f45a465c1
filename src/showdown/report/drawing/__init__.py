"""What figures share: how one is declared and asked for, how it looks, and how it becomes a file."""
