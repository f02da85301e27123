"""Methods that hold at every sample size: bets on random orders of the sample."""
