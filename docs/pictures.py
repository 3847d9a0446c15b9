"""Take the pictures of the documentation from reports: `python docs/pictures.py` (needs chromium)."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

IMAGES = Path(__file__).parent / "images"
PICTURES = {  # the first screen of reports of bundled data
    "report": ("atari-arena", "--success", "0.05"),
    "report-dqn-family": ("atari-dqn-family",),
    "report-swebench": ("swebench-verified",),
}
WIDTH, HEIGHT = 1280, 900


def main() -> None:
    """Write every picture."""
    with tempfile.TemporaryDirectory() as folder:
        for name, words in PICTURES.items():
            page = Path(folder) / f"{name}.html"
            command = [sys.executable, "-m", "examiner", "report", *words, "--output", str(page)]
            subprocess.run(command, check=True)
            browser = ["chromium", "--headless", "--no-sandbox", "--hide-scrollbars"]
            browser += [f"--window-size={WIDTH},{HEIGHT}", "--virtual-time-budget=8000"]
            browser += [f"--screenshot={IMAGES / name}.png", page.as_uri()]
            subprocess.run(browser, check=True, capture_output=True)


if __name__ == "__main__":
    main()
