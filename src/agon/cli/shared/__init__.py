"""What several commands share: options, targets, output and formats."""
