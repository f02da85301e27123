"""Make examples/loans.csv: a simulated file of decisions without model and outcomes.

The lender requires a higher income from women than from men.
"""

from pathlib import Path

import numpy as np
import pandas as pd

rng = np.random.default_rng(5)
loans = pd.DataFrame({
    "sex": rng.choice(["female", "male"], 3000), "income": rng.integers(1, 9, 3000)
})  # fmt: skip
granted = loans["income"] + (loans["sex"] == "male") + rng.integers(0, 2, 3000) > 4
loans["decision"] = np.where(granted, "granted", "declined")
loans.to_csv(Path(__file__).parents[1] / "examples" / "loans.csv", index=False)
