"""Ask bots and models over the network, and make results out of their replies."""
