"""``python -m sqlinterp``: the same as the command ``sqlinterp``."""

from __future__ import annotations

from sqlinterp.cli import main

if __name__ == "__main__":
    main()
