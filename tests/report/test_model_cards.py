"""The section of a model card, beside what the Hugging Face Hub's own library reads of it."""

import pytest
from huggingface_hub import ModelCard

from fairtransport.errors import InputError
from fairtransport.report.exports import BEGIN, END

CARD = "---\nlicense: mit\ntags:\n- tabular\n---\n\n# Loans\n\nA model.\n"


def test_a_card_gets_a_section_and_keeps_the_rest(biased, tmp_path):
    path = tmp_path / "README.md"
    path.write_text(CARD, "utf-8")

    assert biased.add_to_model_card(path) == path
    card = ModelCard.load(path)
    assert card.data.to_dict() == {"license": "mit", "tags": ["tabular"]}
    assert card.text.strip().startswith("# Loans\n\nA model.")
    assert "\n## Audit for individual bias\n" in card.text
    assert "δ-fairness rejected" in card.text
    # of those with 3 points 20 women and 20 men: by hand
    assert "40 of 200 people" in card.text
    assert "20 get “1”, and would then get “0”" in card.text
    assert "f: 20 of 100; m: 20 of 100" in card.text


def test_the_next_audit_replaces_the_section(biased, tmp_path):
    path = tmp_path / "README.md"
    path.write_text(CARD, "utf-8")
    biased.add_to_model_card(path)
    path.write_text(path.read_text("utf-8") + "\n# Afterwards\n", "utf-8")
    before = path.read_text("utf-8")
    biased.add_to_model_card(path)

    assert path.read_text("utf-8") == before
    assert before.count(BEGIN) == 1
    biased.add_to_model_card(path, share=5)
    assert path.read_text("utf-8") != before
    assert path.read_text("utf-8").endswith("# Afterwards\n")


def test_a_card_is_made_where_there_is_none(biased, tmp_path):
    text = biased.add_to_model_card(tmp_path / "card.md").read_text("utf-8")

    assert text.startswith(BEGIN)
    assert text.endswith(f"{END}\n")


def test_a_card_with_half_a_section_is_refused_and_stays(biased, tmp_path):
    path = tmp_path / "README.md"
    path.write_text(f"{CARD}\n{BEGIN}\n", "utf-8")

    with pytest.raises(InputError, match=r"`path` must be a card with the lines .* got 1 and 0"):
        biased.add_to_model_card(path)
    assert path.read_text("utf-8") == f"{CARD}\n{BEGIN}\n"
