"""Documents of audits, comparisons and families: frozen dataclasses, written as JSON."""
