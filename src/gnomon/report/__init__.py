"""Results and their charts as one self-contained page."""

from gnomon.report.page import calibration_page

__all__ = ["calibration_page"]
