"""Rates: how much worse people fare than those alike in all audited columns, group by group."""
