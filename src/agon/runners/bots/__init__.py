"""Ask bots for answers and votes over the network."""
