"""Models that give probabilities: each can say what it predicts and be calibrated by the same code.

`gnomon.models.text` has the text classifiers.
"""
