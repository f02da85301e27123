"""What the words of a report mean."""

from __future__ import annotations

from fairtransport.report.sections import Section

GLOSSARY = {
    "FaiTH statistic, ψ": (
        "How much worse the model does on average when people are swapped with people who are "
        "similar to them, in the worst way that the budget allows."
    ),
    "Similar, comparable": (
        "People whom the similarity calls alike, for example those who differ in nothing but "
        "sensitive features."
    ),
    "Sensitive feature": "A column that should make no difference to how well somebody is treated.",
    "δ-fairness, δ": (
        "The property that the statistic of the whole population is at most δ, the "
        "deterioration that the auditor tolerates."
    ),
    "Rejected": "The lower bound reaches δ: were the model δ-fair, data like these would be rare.",
    "Certified": "The upper bound is at most δ.",
    "Inconclusive": "Neither. The data do not decide; more cases may.",
    "Level, α": "The largest probability of a wrong rejection, and of a wrong certificate.",
    "p-value": "Small values speak against δ-fairness; it is rejected when p is at most α.",
    "Lower and upper bound": (
        "One-sided confidence bounds at level 1 − α. They agree with the verdict."
    ),
    "Interval": (
        "The two-sided confidence interval at level 1 − α, with α/2 on each side; it is a "
        "little wider than the two bounds."
    ),
    "Rates, R": (
        "With predictions alone, where answers differ inside a profile: by how much the mean loss "
        "would rise if everybody were treated as the worst-treated group among people who are "
        "alike in all other columns. It does not say why they are treated differently."
    ),
    "Loss": (
        "What a prediction costs. With zero-one loss an error costs 1, so that mean losses "
        "are shares of errors."
    ),
    "Baseline risk": "The mean loss on the audit data as they are.",
    "Worst-case risk": "The mean loss after the swaps: baseline risk plus statistic.",
    "Budget, ε": (
        "How far people may be moved on average, as a squared distance. With ε = 0 only free "
        "moves count."
    ),
    "Price": "What one more unit of budget would add to the statistic.",
    "Move": "People of one profile who are swapped with people of another.",
    "Flow": "By how much the number of people in a cell changes when the moves are made.",
    "Tied": "Another target would have been as bad for these people; the table shows one of them.",
    "Empirical Lipschitz constant": (
        "The largest difference between two people's predictions, divided by their distance."
    ),
    "Group metrics": (
        "Differences between whole groups. A model may have small ones and yet treat similar "
        "people differently."
    ),
}

SECTION = Section("glossary", "Glossary", 70, lambda *_: {"glossary": GLOSSARY})
