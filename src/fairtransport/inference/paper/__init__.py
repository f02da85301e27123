"""The paper's methods: the limit law of Theorem 1 and the bootstraps, valid as n grows."""
