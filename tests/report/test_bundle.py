"""The charts' JavaScript is made once, and never taken from a file that is not whole."""

import pytest

from fairtransport.report import bundle


@pytest.fixture
def made(tmp_path, monkeypatch):
    """How often the script was made, with a cache of the test's own."""
    calls = []

    def make():
        calls.append(1)
        return "let é = 1;\n"

    monkeypatch.setattr(bundle, "user_cache_folder", lambda owner: tmp_path / owner)
    monkeypatch.setattr(bundle, "build_bundle", make)
    bundle.javascript_bundle.cache_clear()
    yield calls
    bundle.javascript_bundle.cache_clear()


def asked_by_another_process():
    bundle.javascript_bundle.cache_clear()
    return bundle.javascript_bundle()


def test_it_is_made_once(made, tmp_path):
    assert [asked_by_another_process() for _ in range(3)] == ["let é = 1;\n"] * 3
    assert len(made) == 1
    assert len(list((tmp_path / "fairtransport").iterdir())) == 1


@pytest.mark.parametrize(
    "spoil", [lambda old: old[:-3], lambda old: old + b"evil()", lambda _: b""]
)
def test_a_file_that_was_cut_or_changed_is_made_anew(made, tmp_path, spoil):
    asked_by_another_process()
    (file,) = (tmp_path / "fairtransport").iterdir()
    whole = file.read_bytes()
    file.write_bytes(spoil(whole))

    assert asked_by_another_process() == "let é = 1;\n"
    assert len(made) == 2
    assert file.read_bytes() == whole


def test_it_is_made_where_nothing_can_be_kept(made, tmp_path):
    (tmp_path / "fairtransport").write_text("no folder")

    assert asked_by_another_process() == "let é = 1;\n"
    assert asked_by_another_process() == "let é = 1;\n"
    assert len(made) == 2


def test_it_cannot_end_a_script_element(monkeypatch):
    import vl_convert

    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda _: "a</script><!--b\r\n")
    assert bundle.build_bundle().endswith("*/\na<\\/script><\\!--b\n")


def test_licences_go_with_the_script_and_end_with_it(monkeypatch):
    import vl_convert

    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda _: "script()")
    notice, _, script = bundle.build_bundle().partition("*/")

    assert notice.startswith("/*!\nVega")
    assert "University of Washington Interactive Data Lab" in notice
    assert "Redistributions in binary form must reproduce" in notice
    assert script == "\nscript()"


def test_a_wheels_file_is_taken_and_nothing_made(made, tmp_path, monkeypatch):
    package = tmp_path / "package"
    package.mkdir()
    (package / bundle.PLACE).write_text("theirs()", encoding="utf-8")
    monkeypatch.setattr(bundle, "files", lambda _: package)

    assert asked_by_another_process() == "theirs()"
    assert made == []
    assert not (tmp_path / "fairtransport").exists()
