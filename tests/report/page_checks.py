"""What every page of HTML has to keep to."""

import itertools
import re


def check_headings(page):
    """Check that headings go down one level at a time, and that no element's name is used twice."""
    levels = [int(level) for level in re.findall(r"<h([1-6])", page)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert "is fair" not in page
    ids = re.findall(r'\bid="([^"]+)"', re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL))
    assert len(ids) == len(set(ids))
