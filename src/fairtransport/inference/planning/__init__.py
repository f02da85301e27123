"""How many cases an audit needs before it can be expected to reach its verdict."""
