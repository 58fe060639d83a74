"""Read values as the kinds of their columns: words, numbers, times, as people write them."""
