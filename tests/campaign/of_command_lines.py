"""Command lines: words, numbers, lists and files, run in this process."""

import io
import json
import pickle
import shlex
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache

import numpy as np

from fairtransport import DataError, InputError
from fairtransport.cli import main
from tests.campaign.kinds import Kind, folder
from tests.campaign.people import PEOPLE, SWAPPED, model

TOLD = "--label good --prediction guess --sensitive race --features race,age"
ASK = "audit cases.csv --label good --sensitive race --features race,age --allow-pickle --model"
PLAN = "sample-size --value 0.06 --delta 0.0365"
BLANKS = "' race , age '"
FAILED, WRONG_USAGE = 1, 2
EMPTY, COMMAS = "must not be empty, got ''$", "must be a list of at least one value, got ','$"


class Judge:
    """A model of scikit-learn's kind that a pickle can hold."""

    feature_names_in_ = np.array(["race", "age"], object)
    classes_ = np.array([0, 1])

    def predict(self, points):
        return np.asarray(model(points))


@cache
def cases():
    """Write files of cases and models, and return where they are."""
    made = folder()
    PEOPLE.to_csv(made / "cases.csv", index=False)
    PEOPLE.assign(fairtransport_count=1, odd=[np.inf, *[0.5] * 7], gap=[None, *[1] * 7]).to_csv(
        made / "odd.csv", index=False
    )
    (made / "judge.pkl").write_bytes(pickle.dumps(Judge()))
    (made / "list.pkl").write_bytes(pickle.dumps([1]))
    (made / "half.pkl").write_bytes(pickle.dumps(Judge())[:20])
    (made / "costs.npz").write_bytes(b"no archive")
    (made / "binary.csv").write_bytes(bytes(range(256)) * 4)
    return made


def run(line):
    """Run a line; a clear refusal becomes its exception, anything else stays what it is."""
    out, err = io.StringIO(), io.StringIO()
    with chdir(cases()), redirect_stdout(out), redirect_stderr(err):
        code = main(shlex.split(line) if isinstance(line, str) else line)
    said = err.getvalue()
    if code not in {FAILED, WRONG_USAGE}:
        return out.getvalue()
    is_sentence = said.startswith("Error: ") and said.count("\n") == 1 and not out.getvalue()
    if not is_sentence or "defect" in said:
        raise RuntimeError(said)
    raise (InputError if code == WRONG_USAGE else DataError)(said.removeprefix("Error: ").strip())


def value(line, name="statistic"):
    return json.loads(run(f"{line} --json - --seed 0"))[name]


def wrong(what, line, says, error=InputError):
    return Kind(f"$ {line.split()[0] if isinstance(line, str) and line else 'fairtransport'}",
                what, lambda: run(line), says, error)  # fmt: skip


def flag(name, what, line, text, says="must be"):
    """A value of a flag, of which an empty one has a sentence of its own."""
    given = text.strip("'")
    says = says if given.strip() else EMPTY.replace("''", f"'{given}'")
    return wrong(f"--{name}: {what}", f"{line} --{name}={text}", f"^`--{name}` {says}")


NO_NUMBER = {
    "text": "lots", "nan": "nan", "infinity": "inf", "minus infinity": "-inf", "a list": "0.1,0.2",
    "a comma": "0,1", "percent": "5%", "nothing": "''", "blank": "' '", "complex": "1j",
    "too large": "1e400", "a truth value": "true", "unit": "0.1s",
}  # fmt: skip
NO_WHOLE = {
    "text": "many", "a fraction": "1.5", "zero": "0", "negative": "-3", "nan": "nan",
    "infinity": "inf", "nothing": "''", "a list": "1,2", "a float": "1e3",
}  # fmt: skip
NUMBERS = [
    flag(name, what, f"audit cases.csv {TOLD}", text)
    for name in ("budget", "delta", "alpha")
    for what, text in NO_NUMBER.items()
] + [
    flag("power", what, PLAN, text)
    for what, text in NO_NUMBER.items()
] + [
    flag("resamples", what, f"audit cases.csv {TOLD} --method efron", text)
    for what, text in (NO_WHOLE | {"a billion": "1000000000", "unbounded": "1" * 400}).items()
] + [
    flag("seed", what, f"audit cases.csv {TOLD}", text)
    for what, text in NO_WHOLE.items()
    if what != "zero"
] + [
    flag("simulations", what, f"sample-size cases.csv {TOLD} --delta 0.01 --method limit-law", text)
    for what, text in (NO_WHOLE | {"a billion": "1000000000"}).items()
]  # fmt: skip
LISTS = [
    wrong(f"--{name}: {what}", f"audit cases.csv {base} --{name}={text}", says, error)
    for name, base, rows in (
        ("features", TOLD.replace("--features race,age", ""), {
            "nothing": ("''", f"^`--features` {EMPTY}"),
            "a comma": ("','", f"^`--features` {COMMAS}"),
            "twice the same": ("age,age", "^`--features` must be distinct"),
            "unknown": ("height", "^`--features` must name columns"),
            "the label": ("good", "^`--features` and .* must not name the same column"),
        }),
        ("sensitive", TOLD.replace("--sensitive race", ""), {
            "nothing": ("''", f"^`--sensitive` {EMPTY}"),
            "a comma": ("','", f"^`--sensitive` {COMMAS}"),
            "twice the same": ("race,race", "^`--sensitive` must be distinct"),
            "unknown": ("height", "^`--sensitive` must name columns"),
            "the label": ("good", "^`--sensitive` and .* must not name the same column"),
            "the prediction": ("guess", "^`--sensitive` and .* must not name the same column"),
            "a pattern": ("ra*", "^`--sensitive` must name columns"),
        }),
        ("bins.age", TOLD, {
            "nothing": ("''", f"^`--bins.age` {EMPTY}"),
            "text": ("old", "^`--bins.age` must be numbers"),
            "falling": ("45,25", "^`--bins.age` must be one or more"),
            "nan": ("nan", "^`--bins.age` must be finite"),
            "infinity": ("inf", "^`--bins.age` must be finite"),
            "a range": ("20-30", "^`--bins.age` must be numbers"),
        }),
        ("bins.race", TOLD, {"of text": ("3", "^`--bins.race` needs a column of numbers")}),
        ("bins.height", TOLD, {"unknown": ("3", "^`--bins` must name audited columns")}),
        ("loss-range", f"{TOLD} --loss squared", {
            "nothing": ("''", f"^`--loss-range` {EMPTY}"),
            "one": ("0", "^`--loss-range` must be two numbers"),
            "three": ("0,1,2", "^`--loss-range` must be two numbers"),
            "text": ("a,b", "^`--loss-range` must be numbers"),
            "nan": ("0,nan", "^`--loss-range` must be two finite"),
            "falling": ("1,0", "^`--loss-range` must be two finite"),
        }),
        ("counts", TOLD, {
            "unknown": ("height", "^`--counts` must name columns"),
            "the label": ("good", "^`--counts` must not be the column of labels"),
            "the prediction": ("guess", "^`--counts` must not be the column of labels"),
            "nothing": ("''", f"^`--counts` {EMPTY}"),
        }),
        ("label", TOLD.replace("--label good", ""), {
            "unknown": ("bad", "^`--label` must name columns"),
            "nothing": ("''", f"^`--label` {EMPTY}"),
            "the prediction": ("guess", "^`--prediction` must not be the column of the true"),
        }),
        ("prediction", TOLD.replace("--prediction guess", ""), {
            "unknown": ("no", "^`--prediction` must name columns"),
            "nothing": ("''", f"^`--prediction` {EMPTY}"),
            "the label": ("good", "^`--prediction` must not be the column of the true"),
        }),
        ("positive", TOLD, {
            "unknown": ("7", "^`--positive` must be one of"),
            "text for a number": ("\"'1'\"", "^`--positive` must be one of"),
            "nothing": ("''", f"^`--positive` {EMPTY}"),
        }),
        ("levels.race", ASK.removeprefix("audit cases.csv ") + " judge.pkl", {
            "values of nobody": ("z", "^`--levels.race` must hold at least one value"),
            "nan": ("a,b,nan", "^`--levels.race` must not hold NaN"),
            "infinity": ("a,b,inf", "^`--levels.race` must not hold NaN"),
            "nothing": ("''", f"^`--levels.race` {EMPTY}"),
        }),
        ("levels.age", ASK.removeprefix("audit cases.csv ") + " judge.pkl", {
            "another column": ("20", "^`--levels` must name sensitive"),
        }),
        ("privileged.race", f"{TOLD} --favourable 1", {
            "unknown": ("c", "^`--privileged.race` must be one of"),
            "nothing": ("''", f"^`--privileged.race` {EMPTY}"),
        }),
        ("favourable", f"{TOLD} --privileged.race a", {
            "unknown": ("7", "^`--favourable` must be one of"),
            "nothing": ("''", f"^`--favourable` {EMPTY}"),
        }),
    )
    for what, (text, says) in rows.items()
    for error in [DataError if (name, what) == ("bins.race", "of text") else InputError]
]  # fmt: skip
WORDS = [
    flag(name, what, f"audit cases.csv {TOLD}", text, "must be one")
    for name in ("method", "missing", "loss", "similarity", "fail-on")
    for what, text in {"unknown": "magic", "nothing": "''", "a number": "3", "capitals": "ERROR",
                       "a list": "error,level"}.items()
] + [
    flag("goal", what, PLAN, text, "must be one of")
    for what, text in {"unknown": "win", "nothing": "''", "a list": "reject,certify"}.items()
] + [
    wrong(what, line, says, error)
    for what, line, says, error in (
        ("no command that there is", "adit", "is no command of", InputError),
        ("no data", "audit", "needs `DATA`", InputError),
        ("two files", f"audit cases.csv odd.csv {TOLD}", "takes no further argument", InputError),
        ("an absent file", f"audit no.csv {TOLD}", "^there is no .*file .* for `DATA`", InputError),
        ("a folder", f"audit . {TOLD}", "^`DATA` must be files of one type", InputError),
        ("bytes for text", f"audit binary.csv {TOLD}", "^the file 'binary.csv' could not be read",
         DataError),
        ("no sensitive feature", "audit cases.csv --label good --prediction guess",
         "^`--sensitive` must name at least", InputError),
        ("no label", "audit cases.csv --prediction guess --sensitive race", "^`--favourable` must be giv",
         InputError),
        ("no prediction", "audit cases.csv --label good --sensitive race", "^exactly one of",
         InputError),
        ("two predictions", f"audit cases.csv {TOLD} --score score", "^exactly one of", InputError),
        ("scores for labels", ("audit cases.csv --label good --sensitive race --prediction score "
         "--features race,age"), "^`--prediction` must hold labels", DataError),
        ("scores beyond 1", ("audit cases.csv --label good --sensitive race --score age --loss log "
         "--features race"), "^`--score` must give probabilities in", DataError),
        ("infinity in a feature", f"audit odd.csv {TOLD},odd", "^the column 'odd' must hold finite",
         DataError),
        ("a gap in a feature", f"audit odd.csv {TOLD},gap", "^the column 'gap' must not have missin",
         DataError),
        ("an unknown flag", f"audit cases.csv {TOLD} --nonsense 1", "is no flag of", InputError),
        ("a flag without a value", f"audit cases.csv {TOLD} --budget", "needs a value", InputError),
        ("a flag twice", f"audit cases.csv {TOLD} --delta 0.1 --delta 0.2", "must be given once",
         InputError),
        ("levels without a model", f"audit cases.csv {TOLD} --levels.race a,b", "^`--levels` needs",
         InputError),
        ("a threshold in percent", f"audit cases.csv {TOLD} --delta 5", "^`--delta` must be a fraction",
         InputError),
        ("a level of one half", f"audit cases.csv {TOLD} --alpha 0.5", "^`--alpha` must be",
         InputError),
        ("a negative budget", f"audit cases.csv {TOLD} --budget=-1", "^`--budget` must be",
         InputError),
        ("an absent model", f"{ASK} no.pkl", "^there is no .*file .* for `--model`", InputError),
        ("an address with a password", f"{ASK} http://me:word@host/x", "^`--model` must not hold a us",
         InputError),
        ("an address with a key", f"{ASK} http://host/x?key=3", "^`--model` must have no parameters",
         InputError),
        ("an endpoint that is not there", f"{ASK} http://127.0.0.1:1/invocations --retries 0",
         "did not answer in 1 try", DataError),
        ("a flag of endpoints for a file", f"{ASK} judge.pkl --batch-size 3",
         "^`--batch-size` needs a URL as the `--model`", InputError),
        ("a prompt without a model", f"audit cases.csv {TOLD} --prompt p.toml",
         "^`--prompt` needs a URL as the `--model`, got none", InputError),
        ("a prompt that is absent", f"{ASK} http://127.0.0.1:1 --prompt no.toml",
         "there is no file 'no.toml' for", InputError),
        ("a prompt and classes", f"{ASK} http://127.0.0.1:1 --prompt no.toml --classes a,b",
         "^`--classes` must not be given with `--prompt`", InputError),
        ("an unknown protocol", f"{ASK} http://127.0.0.1:1 --protocol grpc", "`--protocol` must be one",
         InputError),
        ("no points a request", f"{ASK} http://127.0.0.1:1/invocations --batch-size 0",
         "^`--batch-size` must be a whole number of at least 1, got 0", InputError),
        ("a token's variable that is not set",
         f"{ASK} http://127.0.0.1:1/invocations --token-variable NO_SUCH",
         "^`--token-variable` must be the name of an environment variable", InputError),
        ("a model that is none", f"{ASK} list.pkl", "must hold a model with", DataError),
        ("half a model", f"{ASK} half.pkl", "could not be read as a model", DataError),
        ("a pickle that is not allowed", f"{ASK.replace('--allow-pickle ', '')} judge.pkl",
         "was not read: it is a pickle", InputError),
        ("targets that are absent", f"audit cases.csv {TOLD} --targets no.csv",
         "^there is no .*file .* for `--targets`", InputError),
        ("training data that are absent", f"audit cases.csv {TOLD} --train no.csv",
         "^there is no .*file .* for `--train`", InputError),
        ("a finite-sample bound without a range", f"audit cases.csv {TOLD} --loss squared",
         "^`--loss-range` must be given for the loss", InputError),
        ("a certificate without a threshold", f"audit cases.csv {TOLD} --fail-on not-certified",
         "^`--delta` must be given with", InputError),
        ("neither a value nor a pilot", "sample-size --delta 0.1", "must be given, and not both",
         InputError),
        ("a value on the wrong side", "sample-size --value 0.01 --delta 0.1", "^`--delta` must be below",
         InputError),
        ("a share above 1", "sample-size --value 2 --delta 0.1", "^`--value` must be a share",
         InputError),
        ("no threshold", "sample-size --value 0.1", "needs `--delta`", InputError),
        ("a power of 1", f"{PLAN} --power 1", "^`--power` must be", InputError),
        ("an unknown figure", "reproduce figure9", "is no command of", InputError),
        ("no shell that there is", "completion tcsh", "^`SHELL` must be one of", InputError),
        ("a seed of text", "demo --seed x", "^`--seed` must be a whole number", InputError),
        ("no splits", "reproduce table1 --splits 0", "^`--splits` must be", InputError),
        ("no jobs", "reproduce table1 --splits 1 --jobs 0", "^`--jobs` must be", InputError),
    )
]  # fmt: skip
SETTINGS = [
    wrong(f"{name}: {what}",
          f"audit cases.csv {TOLD} --similarity {name} --similarity-settings.{text}", says, error)
    for name, what, text, says, error in (
        ("ignore-sensitive", "an unknown setting", "exakt=race", "must be a setting", InputError),
        ("ignore-sensitive", "a tolerance of text", "tolerance.age=old", "must be a number of",
         InputError),
        ("ignore-sensitive", "a tolerance of text's column", "tolerance.race=1", "numeric column",
         InputError),
        ("ignore-sensitive", "an unknown column", "exact=height", "must name audited", InputError),
        ("ignore-sensitive", "a tolerance that is no table", "tolerance=2", "must map columns",
         InputError),
        ("mixed-tabular", "a scale of 0", "scales.age=0", "must be a number above 0", InputError),
        ("mixed-tabular", "a scale of nan", "scales.age=nan", "must be a finite", InputError),
        ("mixed-tabular", "a tiny scale", "scales.age=1e-150", "must make squared dist", InputError),
        ("mixed-tabular", "an unknown column", "scales.height=1", "must name audited", InputError),
        ("sensitive-subspace", "no file", "penalty=1", "must be the file", InputError),
        ("sensitive-subspace", "an absent file", "fit=no.csv", "there is no file",
         InputError),
        ("comparable-groups", "no groups", "fit=cases.csv", "must name the column", InputError),
        ("comparable-pairs", "no pairs", "fit=cases.csv", "must name a column", InputError),
        ("precomputed", "no archive", "path=costs.npz", "could not be read", DataError),
        ("precomputed", "an absent file", "path=no.npz", "there is no file", InputError),
    )
] + [
    wrong(f"--similarity {name} alone", f"audit cases.csv {TOLD} --similarity {name}",
          r"^`--similarity-settings\.")
    for name in ("mixed-tabular", "sensitive-subspace", "comparable-pairs", "comparable-groups",
                 "precomputed")
]  # fmt: skip
ODD = [
    Kind("$ audit", what, lambda v=line: value(v), right=SWAPPED)
    for what, line in {
        "as it should be": f"audit cases.csv {TOLD}",
        "blanks in lists": f"audit cases.csv {TOLD.replace('race,age', BLANKS)}",
        "a flag twice for a list": f"audit cases.csv {TOLD.replace(',age', ' --features age')}",
        "an equals sign": f"audit cases.csv {TOLD.replace('--label good', '--label=good')}",
        "a budget of minus zero": f"audit cases.csv {TOLD} --budget=-0",
        "a budget of 1e-400": f"audit cases.csv {TOLD} --budget 1e-400",
        "counts of one": f"audit cases.csv {TOLD} --counts people",
        "a helper's name": f"audit odd.csv {TOLD},fairtransport_count",
        "a model": f"{ASK} judge.pkl",
        "a model and levels": f"{ASK} judge.pkl --levels.race a,b",
        "flags before the file": f"audit {TOLD} cases.csv",
    }.items()
] + [
    Kind("$ audit", "a file by its full path", lambda: value(
        f"audit {cases() / 'cases.csv'} {TOLD}"), right=SWAPPED),
    Kind("$ audit", "a seed beyond 64 bits", lambda: json.loads(
        run(f"audit cases.csv {TOLD} --json - --seed {10**30}"))["statistic"], right=SWAPPED),
    Kind("$ sample-size", "as it should be", lambda: " 555 people" in run(PLAN), right=True),
    Kind("$ sample-size", "quiet", lambda: len(run(f"{PLAN} --quiet")), right=0),
]  # fmt: skip

KINDS = [*NUMBERS, *LISTS, *WORDS, *SETTINGS, *ODD]
