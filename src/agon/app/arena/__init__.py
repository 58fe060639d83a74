"""Rate the bots of an arena by other methods than its boards."""
