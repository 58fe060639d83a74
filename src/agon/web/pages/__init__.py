"""What each page shows, read through the operations of the API."""
