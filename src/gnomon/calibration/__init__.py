"""Whether probabilities mean what they say: measuring calibration, and mending it."""
