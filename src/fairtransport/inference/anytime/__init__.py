"""Methods that hold at every moment of a growing sample: e-processes."""
