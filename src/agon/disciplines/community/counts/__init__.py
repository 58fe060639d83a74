"""What is counted per table: benchmarks, difficulty of prompts, feedback, models, reviews."""
