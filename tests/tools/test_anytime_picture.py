"""The picture of false alarms is the one that its script makes."""

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_picture_is_that_of_the_script():
    tool = runpy.run_path(str(ROOT / "tools" / "anytime_picture.py"))
    shares = tool["false_alarms"]()
    assert shares["anytime"][-1] < 0.05
    assert shares["looked at once"][-1] > 0.4
    assert tool["picture"](shares) == (ROOT / "docs" / "anytime.svg").read_text(encoding="utf-8")
