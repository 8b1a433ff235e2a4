"""What the words on a page mean, for a reader who meets them for the first time."""

MEANINGS = {
    "calibrated": "Of all things predicted with probability 0.8, 80 in 100 happen; and so for every"
    " other probability.",
    "overconfident": "Things happen less often than predicted: the curve lies below the diagonal."
    " Underconfident: more often, above it.",
    "calibration error (RMS)": "The root mean square distance between the observed frequency and"
    " the predicted probability, over all predictions. 0 is perfect; 0.05 means that probabilities"
    " are typically off by five points in a hundred.",
    "plain and debiased": "Chance moves observed frequencies away from the truth, which makes every"
    " plain error too large. The debiased one has that part removed, and the interval is about it;"
    " so a plain value may lie outside the interval.",
    "interval": "Limits that hold the true value in 95 of 100 such samples, if the level is 95 %.",
    "bins": "Predictions in ascending order, cut into groups of neighbours. Adaptive bins all hold"
    " as many predictions; others are equally wide.",
    "mean absolute error (ECE)": "The mean distance instead of the root mean square; known as"
    " expected calibration error.",
    "maximum error": "The distance in the worst bin.",
    "Brier score": "The mean squared difference between prediction (0 to 1) and label (0 or 1);"
    " lower is better. It is the sum of calibration (the squared error above), refinement (how"
    " mixed the labels are among like predictions; lower is better) and a term for bins that hold"
    " unequal predictions.",
    "skill": "By how much the Brier score beats predicting the base rate every time: 1 is perfect,"
    " 0 no better, below 0 worse.",
    "log loss": "The mean of −log of the probability given to what happened; infinite if"
    " something happened that was given probability 0.",
    "Spiegelhalter test": "Is the Brier score what a calibrated model's would be? Notices"
    " predictions that are all too bold or all too timid.",
    "Kuiper test": "Does any range of predictions err to one side? p is the chance of a result as"
    " extreme from a calibrated model.",
    "smooth curve": "The observed frequency near each probability, averaged with a kernel; needs"
    " no bins.",
    "isotonic fit": "The non-decreasing curve nearest the labels.",
    "root mean square over groups": "The average that can be debiased and has an interval. The"
    " mean of plain errors is what papers report; it adds up every group's noise.",
    "difference": "The first model's debiased error minus the second's, on the same items. If its"
    " interval holds 0, chance could explain it.",
}

CURVE = [
    "calibrated",
    "overconfident",
    "calibration error (RMS)",
    "plain and debiased",
    "interval",
    "bins",
    "mean absolute error (ECE)",
    "maximum error",
    "Brier score",
    "skill",
    "log loss",
    "Spiegelhalter test",
    "Kuiper test",
    "smooth curve",
    "isotonic fit",
]
GROUPS = [
    "calibrated",
    "calibration error (RMS)",
    "plain and debiased",
    "interval",
    "root mean square over groups",
]
COMPARISON = ["calibrated", "difference", "plain and debiased", "interval", "smooth curve"]
