"""GVGAI: games of the General Video Game AI framework, played inside it by agents written for it."""
