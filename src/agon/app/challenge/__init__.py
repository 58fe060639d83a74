"""Follow a challenge through its epochs: weights, forecasts, figures, and setting weights."""
