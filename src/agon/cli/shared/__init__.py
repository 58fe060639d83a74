"""Options, targets, output and formats that several commands share."""
