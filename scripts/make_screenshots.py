"""Take the pictures for the docs: make_screenshots.py report.html, or app."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

FOLDER = Path(__file__).parents[1] / "docs" / "images"
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
WIDTHS = {"report-desktop.png": 1280, "report-phone.png": 390}
HEIGHT = 1800
"""Height at which a picture of a report ends."""
APP_WIDTH, APP_HEIGHT, PATIENCE = 1280, 720, 120_000


@contextmanager
def chromium() -> Iterator[Browser]:
    """Open a browser."""
    program = shutil.which("chromium")
    if program is None:
        sys.exit("Error: screenshots need the program `chromium` on the PATH")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


def take(report: Path) -> None:
    """Open a report and write one picture per width."""
    with chromium() as browser:
        for name, width in WIDTHS.items():
            page = browser.new_page(viewport={"width": width, "height": HEIGHT})
            page.goto(report.resolve().as_uri())
            page.wait_for_selector("html[data-ready]")
            page.screenshot(path=FOLDER / name)
            page.close()


def take_app() -> None:
    """Walk through the app with its first example, and write pictures of its pages."""
    server = subprocess.Popen(
        [sys.executable, "-m", "fairtransport", "app", "--no-open", "--quiet"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        address = server.stdout.readline().strip() if server.stdout else ""
        with chromium() as browser:
            page = browser.new_page(viewport={"width": APP_WIDTH, "height": APP_HEIGHT})
            page.set_default_timeout(PATIENCE)
            page.goto(address)
            page.get_by_role("button", name="Take this example").first.click()
            page.wait_for_selector("#audit")
            page.screenshot(path=FOLDER / "app-form.png", full_page=True)
            page.get_by_role("button", name="Start the audit").click()
            page.wait_for_selector(".first")
            page.screenshot(path=FOLDER / "app-result.png", full_page=True)
            page.get_by_role("link", name="Look up a person").first.click()
            page.locator(".affected a").first.click()
            page.wait_for_selector("#who")
            page.screenshot(path=FOLDER / "app-person.png", full_page=True)
            page.get_by_role("link", name="Other limits").click()
            page.get_by_label("Limit", exact=True).fill("6")
            page.get_by_text("At a limit of 6 %").wait_for()
            page.evaluate("document.activeElement.blur()")
            page.screenshot(path=FOLDER / "app-limits.png", full_page=True)
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Usage: make_screenshots.py report.html, or make_screenshots.py app")
    take_app() if sys.argv[1] == "app" else take(Path(sys.argv[1]))
