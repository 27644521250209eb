"""What the tests of the report share."""

from __future__ import annotations

WHEN = "2026-01-02 03:04 UTC"
HEADER = (
    "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,"
    "Average Duration(us)"
)
HOSTILE_KERNEL = "<script>boom()<!--中"
HOSTILE_OPERATOR = 'x"><img src=q onerror=boom()>$\\frac{1}{2}$'


def matmul_row(m: int, k: int, n: int, latency: str) -> str:
    formats = '"ND;ND","' + f'{m},{n}","DT_BF16","ND"'
    return f'"{m},{k};{n},{k}","DT_BF16;DT_BF16",{formats},{latency}'


def vector_row(rows: int, latency: str) -> str:
    return f'"{rows},64","DT_BF16","ND","{rows},64","DT_BF16","ND",{latency}'
