"""Rate bots on the matches of an arena, state how sure ratings are, and explain them."""
