"""Methods that hold at every sample size: bets on random orders of the sample.

The notation is in the table of ``docs/theory.md``, "The finite-sample bounds, line by line".
"""
