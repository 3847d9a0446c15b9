"""Take the pictures of the documentation from reports: `python docs/pictures.py` (needs chromium)."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

IMAGES = Path(__file__).parent / "images"
REPORT = ("report", "atari-arena", "--success", "0.05", "--output")
PICTURES = {  # sections of the report, and how high they are
    "report": ("heatmap,ranking", 1640),
}
WIDTH = 1070


def main() -> None:
    """Write every picture."""
    with tempfile.TemporaryDirectory() as folder:
        for name, (sections, height) in PICTURES.items():
            page = Path(folder) / f"{name}.html"
            command = [sys.executable, "-m", "examiner", *REPORT, str(page), "--sections", sections]
            subprocess.run(command, check=True)
            browser = ["chromium", "--headless", "--no-sandbox", "--hide-scrollbars"]
            browser += [f"--window-size={WIDTH},{height}", "--virtual-time-budget=8000"]
            browser += [f"--screenshot={IMAGES / name}.png", page.as_uri()]
            subprocess.run(browser, check=True, capture_output=True)


if __name__ == "__main__":
    main()
