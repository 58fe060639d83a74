"""Hold the robotic answers of honeypots, write them, and remember who saw which."""
