"""Train AIF360's own adversarial debiasing and write its figures, to compare ours with.

AIF360's needs TensorFlow, which no extra installs: run this by hand in an environment that has
`tensorflow`, `aif360` and this package: `python scripts/compare_adversarial.py [splits]`. It
writes tests/reproduce/adversarial_aif360.json, which a slow test compares with ours.
"""

import json
import sys
from pathlib import Path

import numpy as np
import tensorflow.compat.v1 as tf
from aif360.algorithms.inprocessing import AdversarialDebiasing

from fairtransport.datasets.compas import split_compas
from fairtransport.reproduce.compas import evaluate
from fairtransport.reproduce.methods import SIDES, build_dataset

TARGET = Path(__file__).parents[1] / "tests" / "reproduce" / "adversarial_aif360.json"


def figures(seed: int) -> dict[str, float | None]:
    """Return Table 1's figures of AIF360's network on one split."""
    split = split_compas(seed)
    tf.reset_default_graph()
    with tf.Session() as session:
        network = AdversarialDebiasing(
            **SIDES, scope_name=f"split{seed}", sess=session, seed=seed
        ).fit(build_dataset(split.training))

        def answer(people: object) -> np.ndarray:
            return network.predict(build_dataset(people)).labels[:, 0].astype(np.int64)

        return evaluate(answer, split.audit, seed)


def main(splits: int) -> None:
    """Write one row per split, each at once so that nothing is lost."""
    tf.disable_eager_execution()
    rows = []
    for seed in range(splits):
        rows.append({"seed": seed, **figures(seed)})
        print(rows[-1], flush=True)
        TARGET.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
