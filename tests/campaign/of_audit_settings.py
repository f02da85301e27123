"""Settings of audit(): numbers, words, seeds."""

import numpy as np
import pandas as pd

from fairtransport import DataError, Loss, ModelError
from fairtransport.losses import log_loss
from tests.campaign.kinds import Kind
from tests.campaign.people import PEOPLE, SWAPPED, audit, given, scores, statistic
from tests.campaign.values import NO_NUMBERS, NO_SEEDS, NO_WHOLE_NUMBERS

WORDS = {"text": "magic", "nothing": None, "a number": 3, "a list": ["efron"], "bytes": b"efron",
         "capitals": "EFRON", "blank": ""}  # fmt: skip
MOST = 10**9


def failing(error):
    def fails(*_):
        raise error

    return fails


NUMBERS = [
    Kind(f"audit {name}", what, lambda n=name, v=value: audit(**{n: v}), f"^`{name}` must be")
    for name in ("budget", "delta", "alpha")
    for what, value in NO_NUMBERS.items()
]
WHOLE = [
    Kind("audit n_resamples", what, lambda v=value: audit(n_resamples=v, method="efron"),
         "^`n_resamples` must be a whole number of at least 1, got")
    for what, value in NO_WHOLE_NUMBERS.items()
]  # fmt: skip
CHOICES = [
    Kind(f"audit {name}", what, lambda n=name, v=value: audit(**{n: v}), f"^`{name}` must be one")
    for name in ("method", "missing", "similarity", "loss")
    for what, value in WORDS.items()
]
SEEDS = [
    Kind("audit rng", what, lambda v=value: audit(rng=v), "^`rng` must be a seed")
    for what, value in NO_SEEDS.items()
]
LIMITS = [
    Kind("audit budget", "negative", lambda: audit(budget=-0.1), "^`budget` must be .* at least 0, got"),
    Kind("audit delta", "negative", lambda: audit(delta=-0.1), "^`delta` must be a fraction"),
    Kind("audit delta", "percent", lambda: audit(delta=5), "^`delta` must be a fraction.*5 % is"),
    Kind("audit delta", "one", lambda: audit(delta=1), "^`delta` must be a fraction"),
    Kind("audit alpha", "zero", lambda: audit(alpha=0), "^`alpha` must be a number above 0"),
    Kind("audit alpha", "one half", lambda: audit(alpha=0.5), "^`alpha` must be .* below 0.5"),
    Kind("audit alpha", "negative", lambda: audit(alpha=-0.05), "^`alpha` must be"),
    Kind("audit alpha", "finer than the draws",
         lambda: audit(alpha=0.001, method="efron", n_resamples=100), "^`alpha` must be at least"),
    Kind("audit n_resamples", "a billion", lambda: audit(n_resamples=MOST, method="efron"),
         "^`n_resamples` must be a whole number of at least 1 and at most 10,000,000, got"),
    Kind("audit n_resamples", "an unbounded integer",
         lambda: audit(n_resamples=10**400, method="efron"), "^`n_resamples` must be"),
    Kind("audit budget", "single precision", lambda: statistic(budget=np.float32(0)), right=SWAPPED),
    Kind("audit budget", "more than all moves cost", lambda: statistic(budget=1e300), right=SWAPPED),
    Kind("audit budget", "minus zero", lambda: statistic(budget=-0.0), right=SWAPPED),
    Kind("audit delta", "an integer of numpy", lambda: statistic(delta=np.int64(0)), right=SWAPPED),
    Kind("audit rng", "a numpy integer", lambda: audit(rng=np.int64(7)).seed, right=7),
    Kind("audit rng", "a generator", lambda: statistic(rng=np.random.default_rng(0)),
         right=SWAPPED),
    Kind("audit rng", "zero", lambda: audit(rng=0).seed, right=0),
    Kind("audit n_resamples", "one where nothing is drawn", lambda: statistic(n_resamples=1),
         right=SWAPPED),
]  # fmt: skip


def own_loss(loss):
    """Audit with a loss of which no limits are known."""
    return audit(loss=loss, method="limit-law")


LOSS = [
    Kind("audit loss_range", "one number", lambda: audit(loss="squared", loss_range=1),
         "^`loss_range` must have shape"),
    Kind("audit loss_range", "three numbers", lambda: audit(loss="squared", loss_range=(0, 1, 2)),
         "^`loss_range` must have shape"),
    Kind("audit loss_range", "falling", lambda: audit(loss="squared", loss_range=(1, 0)),
         "^`loss_range` must be two finite numbers"),
    Kind("audit loss_range", "empty", lambda: audit(loss="squared", loss_range=(1, 1)),
         "^`loss_range` must be two finite numbers"),
    Kind("audit loss_range", "infinite", lambda: audit(loss="squared", loss_range=(0, np.inf)),
         "^`loss_range` must be two finite numbers"),
    Kind("audit loss_range", "NaN", lambda: audit(loss="squared", loss_range=(np.nan, 1)),
         "^`loss_range` must be two finite numbers"),
    Kind("audit loss_range", "text", lambda: audit(loss="squared", loss_range=("0", "1")),
         "^`loss_range` must be numeric"),
    Kind("audit loss_range", "complex", lambda: audit(loss="squared", loss_range=(0, 1j)),
         "^`loss_range` must be numeric"),
    Kind("audit loss_range", "unbounded integers",
         lambda: audit(loss="squared", loss_range=(0, 10**400)), "^`loss_range` must be numeric"),
    Kind("audit loss_range", "masked",
         lambda: audit(loss="squared", loss_range=np.ma.array([0, 1], mask=[0, 1])),
         "^`loss_range` must not have masked"),
    Kind("audit loss_range", "for a loss with its own", lambda: audit(loss_range=(0, 2)),
         "^`loss_range` must be left out for 'zero-one'"),
    Kind("audit loss_range", "too narrow",
         lambda: audit(loss="squared", loss_range=(0, 0.5)),
         "^the losses of 'squared' must lie in", DataError),
    Kind("audit loss_range", "a set", lambda: audit(loss="squared", loss_range={0, 1}),
         "^`loss_range` must be numeric"),
    Kind("audit loss_range", "as numpy integers",
         lambda: statistic(loss="squared", loss_range=np.array([0, 1])), right=SWAPPED),
    Kind("audit loss", "a class", lambda: audit(loss=Loss), "^`loss` must be"),
    Kind("audit loss", "raises", lambda: own_loss(lambda y, p: 1 / 0),
         "^the loss '<lambda>' failed: ZeroDivisionError", ModelError),
    Kind("audit loss", "exits", lambda: own_loss(failing(SystemError("no"))),
         "^the loss 'fails' failed: SystemError", ModelError),
    Kind("audit loss", "gives NaN", lambda: own_loss(lambda y, p: np.full(len(y), np.nan)),
         "^losses must be finite, got nan", DataError),
    Kind("audit loss", "gives infinity", lambda: own_loss(lambda y, p: np.full(len(y), np.inf)),
         "^losses must be finite, got inf", DataError),
    Kind("audit loss", "gives one number", lambda: own_loss(lambda y, p: 1.0),
         "^`loss '<lambda>'` must have shape"),
    Kind("audit loss", "gives nothing", lambda: own_loss(lambda y, p: None),
         "^`loss '<lambda>'` must have shape"),
    Kind("audit loss", "gives text", lambda: own_loss(lambda y, p: ["1"] * len(y)),
         "^`loss '<lambda>'` must be numeric"),
    Kind("audit loss", "gives complex numbers", lambda: own_loss(lambda y, p: y + 1j),
         "^`loss '<lambda>'` must be numeric"),
    Kind("audit loss", "gives too many", lambda: own_loss(lambda y, p: np.zeros(len(y) + 1)),
         "^`loss '<lambda>'` must have shape"),
    Kind("audit loss", "gives two columns", lambda: own_loss(lambda y, p: np.zeros((len(y), 2))),
         "^`loss '<lambda>'` must have shape"),
    Kind("audit loss", "gives masked numbers",
         lambda: own_loss(lambda y, p: np.ma.masked_equal(y, 1)),
         "^`loss '<lambda>'` must not have masked"),
    Kind("audit loss", "gives 1e200", lambda: own_loss(lambda y, p: np.full(len(y), 1e200)),
         "^`losses` must be at most 1e.100"),
    Kind("audit loss", "takes one argument", lambda: own_loss(lambda y: y),
         "^the loss '<lambda>' failed: TypeError", ModelError),
    Kind("audit loss", "a long exception", lambda: own_loss(failing(ValueError("x" * 5000))),
         "^the loss 'fails' failed: ValueError", ModelError),
    Kind("audit loss", "several lines", lambda: own_loss(failing(ValueError("a\nb"))),
         "^the loss 'fails' failed: ValueError: a b", ModelError),
    Kind("audit loss", "truth values", lambda: own_loss(lambda y, p: y != p).statistic, right=SWAPPED),
    Kind("audit loss", "small integers",
         lambda: own_loss(lambda y, p: (y != p).astype(np.int8)).statistic, right=SWAPPED),
    Kind("audit loss", "half precision",
         lambda: own_loss(lambda y, p: (y != p).astype(np.float16)).statistic, right=SWAPPED),
    Kind("audit loss", "a pandas series",
         lambda: own_loss(lambda y, p: pd.Series(y != p)).statistic, right=SWAPPED),
    Kind("audit loss", "scores that are 0 or 1", lambda: statistic(loss="log"),
         right=2 / 8 * np.log(100)),
    Kind("audit loss", "labels where scores are wanted", lambda: given(loss="brier"),
         "^the loss 'brier' needs probabilities: give `y_score`"),
    Kind("audit loss", "brier", lambda: statistic(loss="brier", model=scores),
         right=2 / 8 * (0.75**2 - 0.25**2)),
    Kind("audit loss", "log", lambda: statistic(loss="log", model=scores),
         right=2 / 8 * np.log(3)),
    Kind("audit loss", "log, clipped above all scores",
         lambda: statistic(loss=log_loss(clip=0.9), model=scores), right=0.0),
] + [
    Kind("log_loss clip", what, lambda v=value: log_loss(clip=v), "^`clip` must be")
    for what, value in (NO_NUMBERS | {"zero": 0, "one": 1, "negative": -0.1}).items()
]  # fmt: skip
GROUPS = [
    Kind("group metrics", "text", lambda: audit(favourable=1).document(reference="race"),
         "^`reference` must map"),
    Kind("group metrics", "a list", lambda: audit(favourable=1).document(reference=["race"]),
         "^`reference` must map"),
    Kind("group metrics", "a number", lambda: audit(favourable=1).document(reference=3),
         "^`reference` must map"),
    Kind("group metrics", "an unknown feature",
         lambda: audit(favourable=1).document(reference={"sex": "f"}),
         "^`reference` must be one of"),
    Kind("group metrics", "an unknown group",
         lambda: audit(favourable=1).document(reference={"race": "c"}),
         r"^`reference\['race'\]` must be"),
    Kind("group metrics", "a list of groups",
         lambda: audit(favourable=1).document(reference={"race": ["a", "b"]}),
         r"^`reference\['race'\]` must be"),
    Kind("group metrics", "an array", lambda: audit(favourable=1).document(
        reference={"race": np.array(["a", "b"])}),
        r"^`reference\['race'\]` must be"),
    Kind("audit favourable", "no label", lambda: audit(favourable=7),
         "^`favourable` must be one of"),
    Kind("audit favourable", "an array",
         lambda: audit(favourable=np.array([1, 0])),
         "^`favourable` must be one of"),
    Kind("audit pos_label", "unknown", lambda: audit(pos_label=7), "^`pos_label` must be one of"),
    Kind("audit pos_label", "a list", lambda: audit(pos_label=[1]), "^`pos_label` must be one of"),
    Kind("audit pos_label", "an array", lambda: audit(pos_label=np.array([0, 1])),
         "^`pos_label` must be one of"),
    Kind("audit pos_label", "text for a number", lambda: audit(pos_label="1"),
         "^`pos_label` must be one of"),
    Kind("audit pos_label", "not a prediction",
         lambda: given(y=None, loss="outcome", pos_label=7), "^`pos_label` must be a prediction"),
    Kind("audit pos_label", "of an outcome",
         lambda: given(y=None, loss="outcome", pos_label=1), right=4 / 8),
    Kind("audit", "no way to predictions", lambda: audit(model=None), "^exactly one of `model`"),
    Kind("audit", "two ways to predictions", lambda: audit(PEOPLE, y_pred="guess"),
         "^exactly one of `model`"),
    Kind("audit", "no labels", lambda: audit(y=None), "^`favourable` must be given: the decision"),
]  # fmt: skip

KINDS = [*NUMBERS, *WHOLE, *CHOICES, *SEEDS, *LIMITS, *LOSS, *GROUPS]
