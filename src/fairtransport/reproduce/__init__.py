"""The paper's study, remade: its models, splits, table and figures."""
