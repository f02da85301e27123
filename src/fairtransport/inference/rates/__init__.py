"""Rates: comparisons of groups among people who are alike in all audited columns."""
