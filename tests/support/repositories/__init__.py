"""Repositories as people have them: hostile ones, and odd ones.

`BUILDERS` has them all by name: each takes a path that does not exist yet, and gives back where somebody would start
`perdure code`. What a repository needs beside itself is made next to it, so that a look at the directory around it
(`snapshots.snapshot`) misses nothing. Programs that wait in them leave marks; `marks` tells which of them ran.
"""

from repositories import contents, layouts, programs, states
from repositories.project import marks, project

BUILDERS = {**programs.BUILDERS, **contents.BUILDERS, **states.BUILDERS, **layouts.BUILDERS}

__all__ = ["BUILDERS", "contents", "layouts", "marks", "programs", "project", "states"]
