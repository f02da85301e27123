"""What the report of several audits says, section by section, as `sections` does of one."""
