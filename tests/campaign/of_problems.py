"""AuditProblem, Geometry, sampling_law and sample_size: arrays and numbers."""

import numpy as np
from scipy.sparse import coo_array, csr_array

from fairtransport import AuditProblem, Embedding, Geometry
from fairtransport.inference import sample_size, sampling_law
from tests.campaign.kinds import Kind
from tests.campaign.values import NO_NUMBERS, NO_SEEDS, NO_WHOLE_NUMBERS

INF, NAN = float("inf"), float("nan")
COSTS = [[0.0, 2.0], [2.0, 0.0]]
FREE = [[0.0, 0.0], [0.0, 0.0]]


def problem(losses=(0.0, 1.0), costs=COSTS, **changed):
    return AuditProblem(losses, costs, **({"budget": 0.5} | changed))


def value(f=(1.0, 0.0), **changed):
    """A quarter of the first person's mass can be moved for a half at a cost of two."""
    return problem(**changed).value(f)


def point_outside():
    """A sparse matrix put together by hand that points outside of itself."""
    matrix = csr_array(np.array([[0.0, 2.0], [2.0, 0.0]]))
    matrix.indices = np.array([7, 0], matrix.indices.dtype)
    return matrix


def sparse(costs, **changed):
    rows, cols = np.nonzero(np.ones_like(np.array(costs)))
    return csr_array((np.ravel(costs), (rows, cols)), **changed)


NO_LOSSES = {
    "text": (["0", "1"], "numeric"), "complex": ([0, 1j], "numeric"), "NaN": ([0, NAN], "finite"),
    "infinity": ([0, INF], "finite"), "nothing": (None, "have shape|be numeric"),
    "none": ([], "hold at least one point"), "a number": (1.0, "have shape"),
    "a table": ([[0.0, 1.0]], "have shape"), "ragged": ([[0], [1, 2]], "numeric"),
    "masked": (np.ma.array([0, 1], mask=[0, 1]), "not have masked"),
    "unbounded": ([0, 10**400], "numeric"), "too large": ([0, 1e200], "at most 1e.100"),
    "dates": (np.array(["2020", "2021"], "M8[D]"), "numeric"),
    "dictionaries": ([{}, {}], "numeric"), "a set": ({0.0, 1.0}, "numeric"),
    "bytes": (b"01", "numeric|have shape"),
}  # fmt: skip
NO_COSTS = {
    "text": ([["0", "1"], ["1", "0"]], "numeric"), "complex": (np.eye(2) * 1j, "numeric"),
    "NaN": ([[0, NAN], [1, 0]], ">= 0"), "negative": ([[0, -1], [1, 0]], ">= 0"),
    "a diagonal": ([[1, 0], [0, 0]], "0 on the diagonal"), "not square": ([[0, 1]], "square"),
    "another size": (np.zeros((3, 3)), "over the 2 points"), "a number": (0.0, "have shape"),
    "a row": ([0.0, 1.0], "have shape"), "nothing": (None, "have shape|numeric"),
    "too large": ([[0, 1e201], [1, 0]], "be 0, infinity or between"),
    "too small": ([[0, 1e-201], [1, 0]], "be 0, infinity or between"),
    "subnormal": ([[0, 5e-324], [1, 0]], "be 0, infinity or between"),
    "masked": (np.ma.masked_equal([[0, 1], [1, 0]], 1), "not have masked"),
    "a cube": (np.zeros((2, 2, 2)), "have shape"),
    "sparse, complex": (sparse([[0, 1j], [1, 0]]), "numeric"),
    "sparse, negative": (sparse([[0, -1.0], [1, 0]]), ">= 0"),
    "sparse, NaN": (sparse([[0, NAN], [1, 0]]), ">= 0"),
    "sparse, not square": (csr_array(np.zeros((2, 3))), "square"),
    "sparse, pointing outside": (point_outside(), "a well-formed"),
    "sparse, one dimension": (coo_array(np.array([0.0, 1.0])), "square"),
}  # fmt: skip
PROBLEMS = [
    Kind("AuditProblem losses", what, lambda v=given: problem(losses=v), f"^`losses` must (be )?({says})")
    for what, (given, says) in NO_LOSSES.items()
] + [
    Kind("AuditProblem costs", what, lambda v=given: problem(costs=v), f"^`costs` must (be )?({says})")
    for what, (given, says) in NO_COSTS.items()
] + [
    Kind("AuditProblem budget", what, lambda v=given: problem(budget=v), "^`budget` must be")
    for what, given in (NO_NUMBERS | {"negative": -1, "nothing": None}).items()
] + [
    Kind("AuditProblem costs", what, lambda v=given: problem(costs=v).value([1, 0]), says)
    for what, given, says in (
        ("a function that gives nothing", lambda r, c: None, r"^`costs\(rows, cols\)` must"),
        ("a function of another shape", lambda r, c: np.zeros(3), r"^`costs\(rows, cols\)` must"),
        ("a function that gives NaN", lambda r, c: np.full((len(r), len(c)), NAN), "must be >= 0"),
        ("a function that gives -1", lambda r, c: np.full((len(r), len(c)), -1.0), "must be >= 0"),
        ("a function that gives text", lambda r, c: [["1"] * len(c)] * len(r), "must be numeric"),
        ("a function that raises", lambda r, c: 1 / 0, r"^`costs\(rows, cols\)` failed: ZeroDiv"),
        ("a function of one argument", lambda r: r, r"^`costs\(rows, cols\)` failed: TypeError"),
    )
] + [
    Kind("AuditProblem forbidden", what, lambda v=given: problem(forbidden=v),
         "^`forbidden` must")
    for what, given in {
        "another shape": np.zeros((3, 3)), "twos": np.full((2, 2), 2), "text": [["a", "b"]] * 2,
        "NaN": np.full((2, 2), NAN), "a number": 1, "sparse twos": csr_array(np.full((2, 2), 2.0)),
        "sparse, another shape": csr_array(np.zeros((3, 3))), "complex": np.full((2, 2), 1j),
        "masked": np.ma.masked_equal(np.eye(2), 1), "ragged": [[0], [1, 0]],
    }.items()
] + [
    Kind("AuditProblem value", what, lambda v=given: value(v), f"^`frequencies` must ({says})")
    for what, given, says in (
        ("negative", [1, -1], "be finite and >= 0"), ("NaN", [1, NAN], "be finite"),
        ("infinity", [1, INF], "be finite"), ("too few", [1], "have shape"),
        ("text", ["1", "0"], "be numeric"), ("complex", [1, 1j], "be numeric"),
        ("a table", [[1, 0]], "have shape"), ("nothing", None, "have shape|be numeric"),
        ("masked", np.ma.array([1, 0], mask=[1, 0]), "not have masked"),
    )
] + [
    Kind("AuditProblem values", what, lambda v=given: problem().values(v),
         f"^`frequencies` must ({says})")
    for what, given, says in (
        ("one row", [1.0, 0.0], "have shape"), ("negative", [[1, -1]], "be finite and >= 0"),
        ("sparse, negative", csr_array([[1.0, -1.0]]), "be finite and >= 0"),
        ("sparse, too wide", csr_array([[1.0, 0.0, 0.0]]), "have shape"),
        ("sparse, pointing outside", point_outside(), "be a well-formed"),
        ("sparse, complex", csr_array([[1j, 0]]), "be numeric"),
        ("sparse, one dimension", coo_array(np.array([1.0, 0.0])), "have shape"),
    )
] + [
    Kind("AuditProblem directional_derivative", what,
         lambda v=given: problem().directional_derivative([1, 0], v), "^`direction` must")
    for what, given in {
        "out of the cone": [0, -1], "NaN": [NAN, 0], "too few": [1], "text": ["a", "b"],
        "complex": [1j, 0],
    }.items()
] + [
    Kind("AuditProblem", what, call, right=0.25)
    for what, call in {
        "integers": lambda: value(losses=[0, 1], costs=[[0, 2], [2, 0]]),
        "truth values": lambda: value(losses=[False, True]),
        "half precision": lambda: value(losses=np.array([0, 1], np.float16)),
        "one way only": lambda: value(costs=[[0, 2], [INF, 0]]),
        "a column of Fortran": lambda: value(costs=np.asfortranarray(COSTS)),
        "sparse": lambda: value(costs=sparse(COSTS)),
        "sparse of another form": lambda: value(costs=coo_array(np.array(COSTS))),
        "sparse with an entry in two parts": lambda: value(
            costs=csr_array((np.array([1.0, 1.0]), np.array([1, 1]), np.array([0, 2, 2])))),
        "a function": lambda: value(costs=lambda r, c: np.array(COSTS)[np.ix_(r, c)]),
        "coordinates": lambda: value(
            costs=Geometry([0, 0], Embedding([[0.0], [2**0.5]]))),
        "negative losses": lambda: value(losses=[-1, 0]),
        "frequencies that do not sum to one": lambda: value([1.0, 5.0]),
        "tiny costs": lambda: value(costs=np.array(COSTS) * 1e-199, budget=0.5e-199),
        "large costs": lambda: value(costs=np.array(COSTS) * 1e199, budget=0.5e199),
        "a read-only array": lambda: value(losses=np.broadcast_to([0.0, 1.0], 2)),
        "forbidden the other way": lambda: value(forbidden=[[0, 0], [1, 0]]),
    }.items()
] + [
    Kind("AuditProblem", "forbidden", lambda: value(forbidden=[[0, 1], [0, 0]]), right=0.0),
    Kind("AuditProblem", "one point", lambda: AuditProblem([1.0], [[0.0]]).value([1]), right=0.0),
    Kind("AuditProblem", "nobody", lambda: value([0, 0]), right=0.0),
]  # fmt: skip

GEOMETRIES = [
    Kind("Geometry", what, call, says)
    for what, call, says in (
        ("blocks of text", lambda: Geometry(["a", "b"]), "^`blocks` must be numeric"),
        ("broken blocks", lambda: Geometry([0.5, 1]), "^`blocks` must be whole numbers"),
        ("blocks of NaN", lambda: Geometry([NAN, 1]), "^`blocks` must be whole numbers"),
        ("endless blocks", lambda: Geometry([INF, 1]), "^`blocks` must be whole numbers"),
        ("blocks beyond 64 bits", lambda: Geometry([2.0**70, 1]), "^`blocks` must be whole"),
        ("a table of blocks", lambda: Geometry([[0, 1]]), "^`blocks` must have shape"),
        ("too few coordinates", lambda: Geometry([0, 0], Embedding([[0.0]])), "^`cost` must be"),
        ("targets of another size", lambda: Geometry([0, 0], targets=[1]), "^`targets` must have"),
        ("targets of twos", lambda: Geometry([0, 0], targets=[2, 1]), "^`targets` must hold only"),
        ("profiles of text", lambda: Geometry([0, 0], profiles=[["a"], ["b"]]), "^`profiles` must"),
        ("profiles of another size", lambda: Geometry([0, 0], profiles=[[1]]), "^`profiles` must"),
        ("a cost that is none", lambda: Geometry([0, 0], cost=3), "^`cost` must"),
        ("flat coordinates", lambda: Embedding([0.0, 1.0]), "^`coordinates` must have shape"),
        ("coordinates of NaN", lambda: Embedding([[NAN]]), "^`coordinates` must be finite"),
        ("endless coordinates", lambda: Embedding([[INF]]), "^`coordinates` must be finite"),
        ("coordinates of text", lambda: Embedding([["a"]]), "^`coordinates` must be numeric"),
        ("complex coordinates", lambda: Embedding([[1j]]), "^`coordinates` must be numeric"),
        ("coordinates far out", lambda: Embedding([[1e150], [0]]), "^`coordinates` must make"),
        ("coordinates too close", lambda: Embedding([[1e-150], [0]]), "^`coordinates` must be equ"),
        ("masked coordinates", lambda: Embedding(np.ma.masked_equal([[1.0]], 1)), "not have masked"),
    )
]  # fmt: skip


def law(counts=(30, 70), method="limit-law", **changed):
    return sampling_law(AuditProblem([0.0, 1.0], FREE), counts, method=method,
                        **({"rng": 0, "n_resamples": 200} | changed))  # fmt: skip


LAWS = [
    Kind("sampling_law counts", what, lambda v=given: law(v), f"^`counts` must ({says})")
    for what, given, says in (
        ("negative", [1, -1], "be whole"), ("fractions", [0.5, 0.5], "be whole"),
        ("NaN", [1, NAN], "be whole"), ("infinity", [1, INF], "be whole"),
        ("all zero", [0, 0], "be whole"), ("too few", [1], "have shape"),
        ("text", ["1", "2"], "be numeric"), ("complex", [1, 1j], "be numeric"),
        ("masked", np.ma.array([1, 2], mask=[0, 1]), "not have masked"),
        ("unbounded", [10**400, 1], "be numeric"), ("nothing", None, "have shape|be numeric"),
    )
] + [
    Kind(f"sampling_law {name}", what,
         lambda n=name, m=method, v=given: law(method=m, **{n: v}), f"^`{name}` must be")
    for name, method, values in (
        ("n_resamples", "efron", NO_WHOLE_NUMBERS), ("m", "m-out-of-n", NO_WHOLE_NUMBERS),
        ("step", "numerical", NO_NUMBERS | {"zero": 0, "negative": -1}),
        ("alpha", "limit-law", NO_NUMBERS | {"zero": 0, "one": 1, "negative": -1}),
    )
    for what, given in values.items()
    if not (name == "m" and given is None)
] + [
    Kind("sampling_law method", what, lambda v=given: law(method=v), "^`method` must be one of")
    for what, given in {"text": "magic", "nothing": None, "a number": 3, "a list": ["efron"]}.items()
] + [
    Kind("sampling_law loss_range", what, lambda v=given: law(method="finite-sample", loss_range=v),
         "^`loss_range` must")
    for what, given in {
        "text": ("a", "b"), "one number": 1, "too narrow": (0, 0.5), "infinite": (0, INF),
        "NaN": (NAN, 1), "complex": (0, 1j), "falling": (1, 0),
    }.items()
] + [
    Kind("sampling_law m", "more than there are people",
         lambda: law(method="subsampling", m=1000), "^`m` must be at most the 100 people"),
    Kind("sampling_law n_resamples", "a billion",
         lambda: law(method="m-out-of-n", n_resamples=10**9), "^`n_resamples` must be .* at most 10,000"),
    Kind("sampling_law n_resamples", "a billion for the derivative",
         lambda: law(method="numerical", n_resamples=10**9), "^`n_resamples` must be at most"),
    Kind("sampling_law counts", "subsamples of 10^17 people",
         lambda: law([10**17, 10**17], method="subsampling"), "^`method` 'subsampling' must have"),
    Kind("sampling_law counts", "m of 10^17 people",
         lambda: law([10**17, 3 * 10**17], method="m-out-of-n").estimate, right=0.25),
    Kind("sampling_law counts", "10^17 people again and again",
         lambda: law([10**17, 3 * 10**17], method="efron").estimate, right=0.25),
    Kind("sampling_law counts", "10^17 people, their law's spread",
         lambda: abs(law([10**17, 3 * 10**17], method="efron").draws.std() - 0.1875**0.5) < 0.07,
         right=True),
    Kind("sampling_law counts", "whole floats", lambda: law([25.0, 75.0]).estimate, right=0.25),
    Kind("sampling_law counts", "one person", lambda: law([0, 1]).estimate, right=0.0),
] + [
    Kind(f"law {name}", what, lambda n=name, v=given: getattr(law(), n)(v), "^`(alpha|delta)` must")
    for name in ("interval", "lower_bound", "upper_bound", "pvalue")
    for what, given in NO_NUMBERS.items()
] + [
    Kind("law pvalue", "another alternative", lambda: law().pvalue(0.1, alternative="more"),
         "^`alternative` must be one of"),
    Kind("law pvalue", "no alternative", lambda: law().pvalue(0.1, alternative=None),
         "^`alternative` must be one of"),
]  # fmt: skip


def plan(**changed):
    return sample_size(**({"value": 0.06, "delta": 0.0365} | changed)).n


def pilot(**changed):
    """Plan from a pilot in which a fifth can be swapped into an error."""
    asked = {"value": None, "problem": AuditProblem([0.0, 1.0], FREE), "counts": [20, 80],
             "delta": 0.1, "fixed_targets": True, "loss_range": (0.0, 1.0),
             "rng": 0} | changed  # fmt: skip
    return plan(**asked)


ONE_SOURCE = "^exactly one of `value`, `pilot` and `problem` must be given, got"
PLANS = [
    Kind(f"sample_size {name}", what, lambda n=name, v=given: plan(**{n: v}), f"^`{name}` must be")
    for name in ("value", "delta", "alpha", "power")
    for what, given in (NO_NUMBERS | {"negative": -1}).items()
] + [
    Kind("sample_size", what, call, says)
    for what, call, says in (
        ("neither value nor problem", lambda: plan(value=None), f"{ONE_SOURCE} none$"),
        ("value and problem", lambda: pilot(value=0.1), f"{ONE_SOURCE} `value` and `problem`$"),
        ("counts without a problem", lambda: plan(counts=[1, 2]),
         "^`counts` must come with `problem`, got `value`$"),
        ("a problem without a word on its targets", lambda: pilot(fixed_targets=None),
         (r"^`fixed_targets` must say whether the planned audit's targets are those of `problem` "
          r"whoever is sampled \(True\) or the points of its own sample \(False\), got None$")),
        ("a problem that is none", lambda: pilot(problem=3), "^`problem` must be an AuditProblem"),
        ("neither counts nor frequencies", lambda: pilot(counts=None), "^`frequencies` or `counts`"),
        ("both", lambda: pilot(frequencies=[0.2, 0.8]), "^`frequencies` or `counts` must be given"),
        ("too few counts", lambda: pilot(counts=[1]), "^`counts` must have shape"),
        ("negative counts", lambda: pilot(counts=[-1, 2]), "^`counts` must be finite and >= 0"),
        ("text for counts", lambda: pilot(counts=["1", "2"]), "^`counts` must be numeric"),
        ("nobody", lambda: pilot(counts=[0, 0]), "^`counts` must have a positive sum"),
        ("a sum of two", lambda: pilot(counts=None, frequencies=[1, 1]), "^`frequencies` must sum"),
        ("NaN", lambda: pilot(counts=None, frequencies=[NAN, 1]), "^`frequencies` must be finite"),
        ("another goal", lambda: plan(goal="win"), "^`goal` must be one of"),
        ("no goal", lambda: plan(goal=None), "^`goal` must be one of"),
        ("another method", lambda: pilot(method="magic"), "^`method` must be one of"),
        ("the wrong side", lambda: plan(value=0.01), "^`delta` must be below `value`"),
        ("the wrong side to certify", lambda: plan(goal="certify"), "^`delta` must be above `value`"),
        ("on the edge", lambda: plan(value=0.0365), "^`delta` must be below `value`"),
        ("beyond reach", lambda: plan(value=0.0365 + 1e-9), "^`delta` must be farther"),
        ("a share above 1", lambda: plan(value=1.5), "^`value` must be a share"),
        ("delta of 1", lambda: plan(delta=1), "^`delta` must be"),
    )
] + [
    Kind(f"sample_size {name}", what,
         lambda n=name, v=given: pilot(method="limit-law", **{n: v}), f"^`{name}` must be a whole")
    for name in ("n_simulations", "n_resamples")
    for what, given in (NO_WHOLE_NUMBERS | {"a billion": 10**9, "unbounded": 10**400}).items()
    if not (name == "n_resamples" and ("b" in what.replace("number", "") or given is None))
] + [
    Kind("sample_size rng", what, lambda v=given: pilot(method="limit-law", rng=v), "^`rng` must be")
    for what, given in NO_SEEDS.items()
] + [
    Kind("sample_size n_resamples", "nothing", lambda: pilot(
        method="efron", n_simulations=20, n_resamples=None) == pilot(
        method="efron", n_simulations=20, n_resamples=1000), right=True),
    Kind("sample_size", "a whole number", lambda: plan(value=1, delta=0), right=1),
    Kind("sample_size", "the rule of three", lambda: plan(value=0.0, delta=0.01, goal="certify"),
         right=np.ceil(np.log(0.05) / np.log(0.99))),
    Kind("sample_size", "nobody may be affected", lambda: plan(value=0.1, delta=0),
         right=np.ceil(np.log(0.2) / np.log(0.9))),
]  # fmt: skip

KINDS = [*PROBLEMS, *GEOMETRIES, *LAWS, *PLANS]
