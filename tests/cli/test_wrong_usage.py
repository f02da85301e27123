"""Everything that can be wrong with a line: one sentence that names the flag, and a code."""

import shlex

import pytest

from fairtransport.access.loading import PLACES
from fairtransport.inference import METHODS
from fairtransport.losses import LOSSES

TOLD = "--label good --prediction guess --sensitive race --features race,age"
COLUMNS = "(race, age, good, word, guess, score, gap)"
KINDS = ", ".join(PLACES)
ASK = "audit people.csv --label good --sensitive race --model"
LIST_OF_METHODS = ", ".join(map(repr, METHODS))
LIST_OF_LOSSES = ", ".join(map(repr, LOSSES))
PICKLE = (
    "'model.pkl' was not read: it is a pickle, which runs any code that its author put in. Set "
    "`--allow-pickle` if you trust the author, or save the model with skops"
)
VOUCHED = (
    "'own.skops' holds types that are not known to be safe: random.Random; name them in `--trust` "
    "if you know what they do"
)
GAP = (
    "the column 'gap' must not have missing values, but 1 is missing; fill them in or leave these "
    "people out, or pass --missing level if the model takes missing numbers"
)
TABLES = (
    "must hold the tables [audit], [compare], [monitor], [sample-size], [[audits]] and nothing else"
)
DISJOINT = (
    "true labels and predictions must have the same values, but `--label` has 'no', 'yes', and the "
    "predictions are 0, 1; write both in the same words or numbers, or leave `--label` out and "
    "give `--favourable`, to audit the decisions alone"
)

LINES = [
    # commands and arguments
    ("frobnicate", 2, ("'frobnicate' is no command of `fairtransport`; there are demo, audit, app, "
     "compare, log, monitor, sample-size, reproduce, completion")),
    ("adit cases.csv", 2, "'adit' is no command of `fairtransport`; did you mean audit?"),
    ("reproduce figure9", 2,
     "'figure9' is no command of `fairtransport reproduce`; did you mean figure4?"),
    ("audit", 2, "`fairtransport audit` needs `DATA`"),
    (f"audit cases.csv more.csv {TOLD}", 2,
     "`fairtransport audit` takes no further argument, got 'more.csv'"),
    (f"audit cases.csv {TOLD} --frobnicate 1", 2,
     "`--frobnicate` is no flag of `fairtransport audit`"),
    (f"audit cases.csv {TOLD} --sensitve race", 2,
     "`--sensitve` is no flag of `fairtransport audit`; did you mean --sensitive?"),
    (f"audit cases.csv {TOLD} --budget", 2, "`--budget` needs a value"),
    (f"audit cases.csv {TOLD} --budget 1 --budget 2", 2, "`--budget` must be given once"),
    ("completion tcsh", 2, "`SHELL` must be one of 'bash', 'zsh', 'fish', got 'tcsh'"),
    ("completion", 2, "`fairtransport completion` needs `SHELL`"),
    # the file
    (f"audit absent.csv {TOLD}", 2, "there is no file 'absent.csv' for `DATA`"),
    (f"audit case.csv {TOLD}", 2,
     "there is no file 'case.csv' for `DATA`; did you mean 'cases.csv'?"),
    (f"audit cases.xlsx {TOLD}", 2, ("`DATA` must be a file of type .csv, .tsv, .parquet, .json, "
     ".jsonl, .ndjson, got 'cases.xlsx'; save the sheet as .csv")),
    (f"audit cases.txt {TOLD}", 2, ("`DATA` must be a file of type .csv, .tsv, .parquet, .json, "
     ".jsonl, .ndjson, got 'cases.txt'")),
    (f"audit broken.parquet {TOLD}", 1, ("the file 'broken.parquet' could not be read: Invalid "
     "Input Error: File 'broken.parquet' too small to be a Parquet file")),
    # columns
    ("audit cases.csv --label bad --prediction guess --sensitive race", 2,
     f"`--label` must name columns of the data {COLUMNS}, got 'bad'"),
    ("audit cases.csv --prediction guess --sensitive race", 2,
     ("`--favourable` must be given: the decision that is good for a person, such as --favourable "
      "granted; or give the true labels as `--label`")),
    ("audit cases.csv --label good --prediction guess --sensitive height", 2,
     f"`--sensitive` must name columns of the data {COLUMNS}, got 'height'"),
    ("audit cases.csv --label good --prediction guess", 2,
     "`--sensitive` must name at least one column, got none"),
    (f"audit cases.csv {TOLD} --features good", 2,
     "`--features` and `--label` must not name the same column, got 'good' for both"),
    ("audit cases.csv --label good --prediction guess --sensitive race --features age,gap", 1,
     GAP),
    ("audit cases.csv --label word --prediction guess --sensitive race --features age", 1,
     DISJOINT),
    # not that 1 is no favourable decision: it is one of the file's
    (("audit cases.csv --label word --prediction guess --favourable 1 --sensitive race "
      "--features age"), 1, DISJOINT),
    (f"audit cases.csv {TOLD} --counts score", 1,
     ("the counts in 'score' must be whole numbers >= 0; 6 rows break this. For survey weights "
      "pass `--sample-weight`")),
    (f"audit cases.csv {TOLD} --counts people", 2,
     f"`--counts` must name columns of the data {COLUMNS}, got 'people'"),
    (f"audit cases.csv {TOLD} --targets absent.csv", 2,
     "there is no file 'absent.csv' for `--targets`"),
    # where predictions come from
    ("audit cases.csv --label good --sensitive race", 2,
     ("exactly one of `--model`, `--prediction` and `--score` must be given, got none; name the "
      "column of the decisions, or give the model")),
    (f"audit cases.csv {TOLD} --score score", 2, ("exactly one of `--model`, `--prediction` and "
     "`--score` must be given, got `--prediction` and `--score`")),
    ("audit cases.csv --label good --sensitive race --score score", 2,
     ("the loss 'zero-one' needs labels: give --loss log or --loss brier, or cut the probabilities "
      "into labels and give them as `--prediction`")),
    (f"audit cases.csv {TOLD} --loss log", 2,
     "the loss 'log' needs probabilities: give `--score` instead of `--prediction`"),
    ("audit cases.csv --label good --sensitive race --prediction nothing", 2,
     f"`--prediction` must name columns of the data {COLUMNS}, got 'nothing'"),
    # values
    (f"audit cases.csv {TOLD} --bins.age young", 2,
     "`--bins.age` must be numbers separated by commas, got 'young'"),
    (f"audit cases.csv {TOLD} --bins.age 45,25", 2,
     "`--bins.age` must be one or more numbers, from small to large, got 45, 25"),
    (f"audit cases.csv {TOLD} --bins 3", 2,
     "`--bins` needs a column's name after a dot, as in --bins.NAME"),
    (f"audit cases.csv {TOLD} --bins.age", 2, "`--bins.age` needs a value"),
    (f"audit cases.csv {TOLD} --bins.height 3", 2,
     "`--bins` must name audited columns (race, age), got 'height'"),
    (f"audit cases.csv {TOLD} --bins.race 3", 1,
     "`--bins.race` needs a column of numbers, but the type of 'race' is VARCHAR"),
    (f"audit cases.csv {TOLD} --levels a,b", 2,
     "`--levels` needs a column's name after a dot, as in --levels.NAME"),
    (f"audit cases.csv {TOLD} --levels.race a,b", 2,
     ("`--levels` needs `--model`: only a model can be queried for people with other sensitive "
      "values")),
    (("audit cases.csv --prediction word --favourable yes --sensitive race --features age "
      "--clusters good"), 2, (
        "`--clusters` needs `largest` where there is no model, got none: the most rows that any "
        "cluster can have, not counted in these data, as in --clusters good,largest=12; or count "
        "every cluster once: --clusters good,target=clusters")),
    (f"audit cases.csv {TOLD} --similarity mixed-tabular --budget 1", 2, (
        "`--similarity-settings.scales.age` must be given: a number that says how large a "
        "difference counts as a distance of 1; or give `--similarity-settings.default-scale` for "
        "all columns of numbers")),
    (f"audit cases.csv {TOLD} --loss-range 0,x", 2,
     "`--loss-range` must be numbers separated by commas, got '0,x'"),
    (f"audit cases.csv {TOLD} --loss absolute --loss-range 1,0", 2,
     "`--loss-range` must be two finite numbers, the smaller first, got [1.0, 0.0]"),
    (f"audit cases.csv {TOLD} --loss absolute", 2,
     ("`--loss-range` must be given for the loss 'absolute', whose bounds need it, got None: give "
      "the smallest and the largest loss that can occur, such as 0 and 10 where no prediction can "
      "be off by more than 10; or give --method limit-law, whose bounds are approximations")),
    (f"audit cases.csv {TOLD} --loss hinge", 2,
     f"`--loss` must be one of {LIST_OF_LOSSES}, got 'hinge'"),
    (f"audit cases.csv {TOLD} --method magic", 2,
     f"`--method` must be one of {LIST_OF_METHODS}, got 'magic'"),
    (f"audit cases.csv {TOLD} --missing drop", 2,
     "`--missing` must be one of 'error', 'level', got 'drop'"),
    (f"audit cases.csv {TOLD} --budget -1", 2,
     "`--budget` must be a number of at least 0, got -1.0"),
    (f"audit cases.csv {TOLD} --budget lots", 2, "`--budget` must be a number, got 'lots'"),
    (f"audit cases.csv {TOLD} --delta nan", 2,
     "`--delta` must be a fraction from 0 to below 1 (5 % is 0.05), got nan"),
    (f"audit cases.csv {TOLD} --alpha 0", 2,
     "`--alpha` must be a number above 0 and below 0.5, got 0.0"),
    (f"audit cases.csv {TOLD} --method limit-law --resamples 0", 2,
     "`--resamples` must be a whole number of at least 1, got 0"),
    (f"audit cases.csv {TOLD} --seed -1", 2,
     "`--seed` must be a whole number of at least 0, got -1"),
    (f"audit cases.csv {TOLD} --seed one", 2, "`--seed` must be a whole number, got 'one'"),
    (f"audit cases.csv {TOLD} --fail-on sometimes", 2,
     "`--fail-on` must be one of 'rejected', 'not-certified', 'never', got 'sometimes'"),
    (f"audit cases.csv {TOLD} --fail-on not-certified", 2,
     "`--delta` must be given with `--fail-on not-certified`: there is no verdict without it"),
    # files to write
    (f"audit cases.csv {TOLD} --report out.pdf", 2,
     "`--report` must end in .html or .md, got 'out.pdf'"),
    (f"audit cases.csv {TOLD} --report no/such/out.html", 2,
     "`--report` must be in an existing folder, got 'no/such/out.html'"),
    (f"audit cases.csv {TOLD} --json cases.csv", 2,
     "`--json` must not be another file of this command, got 'cases.csv'"),
    (f"audit cases.csv {TOLD} --report a.md --json ./a.md", 2,
     "`--json` must not be another file of this command, got 'a.md'"),
    (f"audit cases.csv {TOLD} --json .", 2, "`--json` must not be a folder, got '.'"),
    (f"audit cases.csv {TOLD} --json --quiet", 2, "`--json` must be a file or -, got '--quiet'"),
    (f"audit cases.csv {TOLD} --share-at-least 0", 2,
     "`--share-at-least` must be a whole number of at least 2, got 0"),
    # models
    (f"{ASK} absent.skops", 2, "there is no model file 'absent.skops' for `--model`"),
    (f"{ASK} cases.txt", 2, (
        f"`--model` must be an MLflow folder or one of {KINDS}, got 'cases.txt'")),
    (f"{ASK} model.onnx", 2,
     "there is no model file 'model.onnx' for `--model`; did you mean 'model.skops'?"),
    (f"{ASK} https://me:word@host/model", 2, ("`--model` must not hold a user name or a password; "
     "put the token into the environment variable FAIRTRANSPORT_TOKEN")),
    (f"{ASK} model.pkl", 2, PICKLE),
    (f"{ASK} dict.pkl --allow-pickle", 1,
     ("'dict.pkl' must hold a model with `predict`, got an object of type dict; save the model "
      "itself")),
    (f"{ASK} damaged.skops", 1, ("'damaged.skops' is no skops file, or is damaged; save the model "
     "with skops.io.dump(model, 'damaged.skops')")),
    (f"{ASK} own.skops", 1, VOUCHED),
    (f"{ASK} own.skops --trust Random", 2,
     "`--trust` must hold full names of types like 'package.Class', got 'Random'"),
    (f"{ASK} other.skops", 2,
     ("the model was fitted on the column 'years', which is not in the data; the data has race, "
      "age, good, guess")),
    # the TOML file
    (f"audit cases.csv {TOLD} --config absent.toml", 2,
     "there is no file 'absent.toml' for `--config`"),
    (f"audit cases.csv {TOLD} --config broken.toml", 2, ("'broken.toml' must be a TOML file: "
     "Expected ']' at the end of a table declaration (at line 1, column 7)")),
    (f"audit cases.csv {TOLD} --config table.toml", 2, f"'table.toml' {TABLES}, got 'adit'"),
    (f"audit cases.csv {TOLD} --config top.toml", 2, f"'top.toml' {TABLES}, got 'audit'"),
    (f"audit cases.csv {TOLD} --config key.toml", 2, ("'sensitve' in 'key.toml' is no setting of "
     "`fairtransport audit`; did you mean sensitive?")),
    (f"audit cases.csv {TOLD} --config nested.toml", 2,
     "'bin.age' in 'nested.toml' is no setting of `fairtransport audit`"),
    (f"audit cases.csv {TOLD} --config value.toml", 2,
     "`budget` in 'value.toml' must be a number, got 'lots'"),
    (f"audit cases.csv {TOLD} --config list.toml", 2,
     """`counts` in 'list.toml' must be one value, got '["a", "b"]'"""),
    (f"audit cases.csv {TOLD} --config choice.toml", 2,
     f"`loss` in 'choice.toml' must be one of {LIST_OF_LOSSES}, got 'pain'"),
    (f"audit cases.csv {TOLD} --config debug.toml", 2,
     "'debug' must not be in the table [audit] of 'debug.toml': it is a flag"),
    # other commands
    (f"monitor cases.csv {TOLD} --delta 0.1", 2,
     "`fairtransport monitor` needs `--state`"),
    (f"monitor cases.csv {TOLD} --state s", 2,
     "`fairtransport monitor` needs `--delta`, your limit (3 % is 0.03)"),
    (f"monitor cases.xlsx {TOLD} --state s --delta 0.1", 2,
     "`DATA` must be of type .csv, .tsv, .jsonl, .ndjson, got 'cases.xlsx'"),
    (f"monitor cases.csv {TOLD} --state other.json --delta 0.1", 2,
     ("`--state` must be a state file of schema fairtransport-monitor/3, got another file: "
      "'other.json'")),
    (f"monitor cases.csv {TOLD} --state no/such/s --delta 0.1", 2,
     "`--state` must be in an existing folder, got 'no/such/s'"),
    (f"monitor cases.csv {TOLD} --state cases.csv --delta 0.1", 2,
     "`--state` must not be another file of this command, got 'cases.csv'"),
    (f"monitor cases.csv {TOLD} --state s --delta 2", 2,
     "`--delta` must be a fraction from 0 to below 1 (2 % is 0.02), got 2.0"),
    ("audit cases.csv --sensitive race age --label good --prediction guess", 2,
     ("`fairtransport audit` takes no further argument, got 'age'; "
      "the parts of a list have a comma between them: --sensitive race,age")),
    (f"audit cases.csv {TOLD} --loss-range 0", 2,
     "`--loss-range` must be two numbers, as in --loss-range 0,1, got '0'"),
    (f"audit empty.csv {TOLD}", 1, "the file 'empty.csv' is empty"),
    # before the damaged model is read
    ("audit no.csv --label good --sensitive race --model damaged.skops", 2,
     "there is no file 'no.csv' for `DATA`"),
    ("audit cases.csv --label good --sensitive race --model damaged.skops --alpha 5", 2,
     "`--alpha` must be a number above 0 and below 0.5 (5 % is 0.05), got 5.0"),
    ("audit cases.csv --label good --sensitive race --model damaged.skops --resamples 0", 2,
     "`--resamples` must be a whole number of at least 1, got 0"),
    ("audit cases.csv --label good --sensitive race --model damaged.skops --delta 5", 2,
     "`--delta` must be a fraction from 0 to below 1 (5 % is 0.05), got 5.0"),
    ("audit cases.csv --label good --sensitive race --model damaged.skops --prediction guess", 2,
     ("exactly one of `--model`, `--prediction` and `--score` must be given, got `--model` and "
      "`--prediction`")),
    ("audit cases.csv --label bad --sensitive race --model damaged.skops", 2,
     f"`--label` must name columns of the data {COLUMNS}, got 'bad'"),
    ("audit cases.csv --label good --sensitive rce --model damaged.skops", 2,
     f"`--sensitive` must name columns of the data {COLUMNS}, got 'rce'; did you mean 'race'?"),
    ("audit cases.csv --label good --sensitive race --counts n --model damaged.skops", 2,
     f"`--counts` must name columns of the data {COLUMNS}, got 'n'"),
    ("audit cases.csv --label good --sensitive race --features agr --model damaged.skops", 2,
     f"`--features` must name columns of the data {COLUMNS}, got 'agr'; did you mean 'age'?"),
    ("audit cases.csv --label good --sensitive race --bins.agr 3 --model damaged.skops", 2,
     ("`--bins` must name audited columns (race, age, word, guess, score, gap), got 'agr'; did you "
      "mean 'age'?")),
    ("audit cases.csv --label good --sensitive race --train absent.csv --model damaged.skops", 2,
     "there is no file 'absent.csv' for `--train`"),
    ("audit cases.csv --label good --sensitive race --targets absent.csv --model damaged.skops", 2,
     "there is no file 'absent.csv' for `--targets`"),
    (("audit cases.csv --label good --sensitive race --similarity mixed-tabular "
      "--similarity-settings.scales.age 0 --model damaged.skops"), 2,
     "`--similarity-settings.scales.age` must be a number above 0, got 0"),
    ("compare cases.csv --label good --sensitive rce --model a=damaged.skops --model b=c.skops", 2,
     f"`--sensitive` must name columns of the data {COLUMNS}, got 'rce'; did you mean 'race'?"),
    ("compare cases.csv --label good --sensitive race --prediction a=guess --prediction b=nothing",
     2, f"`--prediction` must name columns of the data {COLUMNS}, got 'nothing'"),
    ("sample-size cases.csv --label bad --sensitive race --model damaged.skops --delta 0.1", 2,
     f"`--label` must name columns of the data {COLUMNS}, got 'bad'"),
    ("monitor no.csv --label good --sensitive race --model damaged.skops --state s --delta 0.1", 2,
     "there is no file 'no.csv' for `DATA`"),
    (f"audit cases.csv {TOLD} --delta 5", 2,
     "`--delta` must be a fraction from 0 to below 1 (5 % is 0.05), got 5.0"),
    ("audit cases.csv --label good --prediction good --sensitive race", 2,
     "`--prediction` must not be the column of the true labels, got 'good'"),
    ("monitor cases.csv --label good --prediction good --sensitive race --state s --delta 0.1", 2,
     "`--prediction` must not be the column of the true labels, got 'good'"),
    (f"monitor cases.csv {TOLD} --state s --delta 0.1 --counts people", 2,
     "`--counts` is no flag of `fairtransport monitor`"),
    (f"monitor cases.csv {TOLD} --state s --delta 0.1 --clusters people", 2,
     ("`--clusters` is no flag of `fairtransport monitor`, which is for independent people; "
     "`audit` and `compare` take it")),
    ("sample-size pilot.json --delta 0.1 --sample-weight people", 2,
     ("`--sample-weight` is no flag of `fairtransport sample-size`, which is for independent "
     "people; `audit` and `compare` take it")),
    ("monitor people.csv --label good --sensitive race --model model.skops --state s --delta 0.1",
     2, ("`--levels.race` must list all values that a stream can bring, as they must be "
      "known beforehand")),
    ("sample-size --delta 0.1", 2,
     "`PILOT` or `--value` must be given, and not both, got neither"),
    ("sample-size cases.csv --value 0.1 --delta 0.1", 2,
     "`PILOT` or `--value` must be given, and not both, got both"),
    ("sample-size --value 0.2", 2,
     "`fairtransport sample-size` needs `--delta`, your limit (3 % is 0.03)"),
    ("sample-size --value 0.01 --delta 0.1", 2,
     '`--delta` must be below `--value` 0.01 for the goal "reject", got 0.1'),
    ("sample-size --value 2 --delta 0.1", 2,
     "`--value` must be a share of people, at most 1, got 2.0"),
    ("sample-size --value 0.2 --delta 0.1 --goal win", 2,
     "`--goal` must be one of 'reject', 'certify', got 'win'"),
    ("sample-size --value 0.2 --delta 0.1 --power 1", 2,
     "`--power` must be a number above 0 and below 1, got 1.0"),
    ("sample-size --value 0.2 --delta 0.1 --plot a.pdf", 2,
     "`--plot` must end in .png or .svg, got 'a.pdf'"),
    ("sample-size --value 0.2 --delta 0.1 --plot no/such/a.png", 2,
     "`--plot` must be in an existing folder, got 'no/such/a.png'"),
    ("demo --seed x", 2, "`--seed` must be a whole number, got 'x'"),
    ("demo --output report.pdf", 2, "`--output` must end in .html or .md, got 'report.pdf'"),
    ("reproduce figure1 --seed -1", 2, "`--seed` must be a whole number of at least 0, got -1"),
]  # fmt: skip


@pytest.mark.parametrize(("typed", "code", "message"), LINES, ids=[line[0] for line in LINES])
def test_it_is_said_in_one_sentence(typed, code, message, run, folder):
    before = sorted(folder.iterdir())

    assert run(*shlex.split(typed)) == (code, "", f"Error: {message}\n")
    assert sorted(folder.iterdir()) == before


def test_there_are_lines_enough():
    assert len({line[0] for line in LINES}) >= 40


def test_the_similarities_are_listed(run):
    done = run("audit", "cases.csv", *TOLD.split(), "--similarity", "near")

    assert done.code == 2
    assert done.err.startswith("Error: `--similarity` must be one of 'ignore-sensitive'")
    assert done.err.endswith(", got 'near'\n")
    assert "object" not in done.err
