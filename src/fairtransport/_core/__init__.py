"""Validation, files, schema, progress, threads: what knows nothing of audits."""
