"""What each command looks like in use: shown below its help."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "quickstart": ("sqlinterp quickstart",),
    "ingest": (
        "sqlinterp ingest databases --db profiling.duckdb",
        "sqlinterp ingest databases --strict && echo 'every row was usable'",
    ),
    "lookup": (
        "sqlinterp lookup --version vllm0.18.0 call.json",
        "sqlinterp lookup --ep-size 16 --summary trace.jsonl > answers.jsonl",
    ),
    "explain": ("sqlinterp explain --version vllm0.18.0 call.json",),
    "sql": (
        'sqlinterp sql "SELECT * FROM kernel_coverage"',
        'sqlinterp sql --format parquet "SELECT * FROM measurement" > rows.parquet',
    ),
    "views": ("sqlinterp views", "sqlinterp views coverage_axis --dialect spark"),
    "density": ("sqlinterp density --template > rules.yaml", "sqlinterp density rules.yaml"),
    "migrate": ("sqlinterp migrate --status", "sqlinterp migrate"),
    "demo": ("sqlinterp demo demo --scale 1 && sqlinterp ingest demo",),
    "report": ("sqlinterp report --out report",),
    "upgrade-csv": (
        "sqlinterp upgrade-csv databases --to current62 --dry-run",
        "sqlinterp upgrade-csv databases --to current62",
    ),
    "ingest-table": ("sqlinterp ingest-table declaration.yaml table.parquet",),
    "export": ("sqlinterp export --format parquet exported",),
    "query": ("sqlinterp query < request.json > response.json",),
}


def epilog(command: str) -> str:
    """Return the examples of a command as the end of its help."""
    lines = [f"  $ {example}" for example in EXAMPLES[command]]
    return "\n\n".join(["For example:", *lines])
