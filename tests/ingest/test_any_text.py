"""Whatever a CSV holds, ingest does not raise and every row has one end."""

from __future__ import annotations

import tempfile
from pathlib import Path

from csv_folders import COLUMNS, Folder
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

NAMES = (*COLUMNS, "EP Size", "Profiling Average aicore_time(us)", "Runtime phase", "Unknown")
CELLS = st.one_of(
    st.sampled_from(["", "16,16", "8;8", "N/A", "0", "-1", "nan", "1e400", "7.5", "DT_BF16", "ND"]),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8),
)
RAW_LINES = st.text(st.sampled_from('a1,;"\r\n \té\uff1b'), max_size=20)


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


@st.composite
def csv_texts(draw: st.DrawFn) -> str:
    optional = draw(st.permutations(NAMES))[: draw(st.integers(3, len(NAMES)))]
    needed = ("Input Shapes", "Input Data Types", "Average Duration(us)")
    header = list(dict.fromkeys([*optional, *needed]))
    width = st.integers(len(header) - 1, len(header) + 1) if draw(st.booleans()) else None
    lines = [",".join(header)]
    for _ in range(draw(st.integers(0, 6))):
        count = draw(width) if width is not None else len(header)
        cells = draw(st.lists(CELLS, min_size=count, max_size=count))
        quote = draw(st.lists(st.booleans(), min_size=count, max_size=count))
        pairs = zip(cells, quote, strict=True)
        lines.append(",".join(quoted(cell) if flag else cell for cell, flag in pairs))
        if draw(st.integers(0, 4)) == 0:
            lines.append(draw(RAW_LINES))
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines) + draw(st.sampled_from(["", "\n"]))


@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate, Phase.shrink],
)
@given(st.lists(csv_texts(), min_size=5, max_size=8))
def test_any_text_balances(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Folder(Path(name))
        folder.load_all({f"Kernel{place}": text for place, text in enumerate(texts)})
