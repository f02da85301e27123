"""Take the pictures of a report that the docs show: make_screenshots.py report.html."""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).parents[1] / "docs" / "images"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
WIDTHS = {"report-desktop.png": 1280, "report-phone.png": 390}
HEIGHT = 1800
"""A picture ends here; the report goes on."""


def take(report: Path, folder: Path = FOLDER) -> None:
    """Open a report in Chromium and write one picture a width."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("Error: screenshots need the program `chromium` on the PATH")
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        for name, width in WIDTHS.items():
            page = browser.new_page(viewport={"width": width, "height": HEIGHT})
            page.goto(report.resolve().as_uri())
            page.wait_for_selector("html[data-ready]")
            page.screenshot(path=folder / name)
            page.close()
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Usage: make_screenshots.py report.html")
    take(Path(sys.argv[1]))
