"""Nguyen and O'Connor (2015), Posterior calibration and exploratory analysis for natural language
processing models, EMNLP: `text` is section 4.1, sentiment of tweets.
"""
