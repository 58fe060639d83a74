"""What a run leaves: its folder, its summary, its page."""
