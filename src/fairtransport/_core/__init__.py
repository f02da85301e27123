"""Validation, files, schema, progress and threads, independent of audits."""
