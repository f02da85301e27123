"""What the report of a comparison of models says, section by section."""
