"""A checkout of a tiny GVGAI framework: its classes are ours, and so are its two games."""

from __future__ import annotations

import shutil
from pathlib import Path

GAMES = {"aliens": 12, "zelda": 30}
"""Game → how many ticks it lasts."""
DESCRIPTION = """BasicGame square_size=32
    SpriteSet
        floor > Immovable img=floor  # speed=9 stands in a comment
        thing > Immovable color=BLUE
            prize > Resource value=100 limited=2
        avatar > MovingAvatar
    LevelMapping
        p > floor prize
    InteractionSet
        prize avatar > killSprite scoreChange=1
    TerminationSet
        Timeout limit={length} win=False
        SpriteCounter stype=prize win=True
        SpriteCounter stype=avatar win=False
"""


def copy_of_framework(folder: Path) -> Path:
    """A folder that passes for a checkout of the framework."""
    shutil.copytree(Path(__file__).parent / "gvgai_framework", folder)
    games = folder / "examples" / "gridphysics"
    games.mkdir(parents=True)
    (folder / "sprites").mkdir()
    listing = ""
    for index, (game, length) in enumerate(GAMES.items()):
        (games / f"{game}.txt").write_text(DESCRIPTION.format(length=length))
        for level in range(2):
            (games / f"{game}_lvl{level}.txt").write_text("w.A.w")
        listing += f"{index},examples/gridphysics/{game}.txt\n"
    (folder / "examples" / "all_games_sp.csv").write_text(listing)
    return folder
