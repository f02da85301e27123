"""What audits, comparisons and families say: frozen dataclasses that are the JSON."""
