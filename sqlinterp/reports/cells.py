"""Values and tables as HTML; everything that comes from a database is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from sqlinterp.reports.data import Result
from sqlinterp.reports.sections import Table

_PLAIN = ("regime_id", "line_number", "line_numbers", "first_line_number", "input_limit")
_LONG = 36  # characters of a cell that may be broken into lines


def number(value: float) -> str:
    """Return a number to read: thousands apart, three decimals, three digits when tiny.

    Examples
    --------
    >>> number(12951), number(13.3287640625), number(0.00001234), number(4096.0)
    ('12,951', '13.329', '1.23e-05', '4,096')
    """
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    if 0 < abs(value) < 0.001 or abs(value) >= 1e15:
        return f"{value:.3g}"
    return f"{value:,.3f}".rstrip("0").rstrip(".")


def text(value: Any) -> str:
    """Return a value as a cell shows it, not yet escaped."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, (list, tuple)):
        if any(isinstance(item, (list, tuple)) for item in value):
            return " ".join(_shape(item) for item in value)
        return ", ".join(_item(item) for item in value)
    return str(value)


def _item(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _shape(shape: Sequence[int] | None) -> str:
    """Return one slot of a list of shapes; an empty slot is a dash."""
    return "-" if shape is None else "(" + ", ".join(str(dim) for dim in shape) + ")"


def table_html(table: Table, result: Result, labels: Mapping[str, str]) -> str:
    """Return a table with its heading, its CSV link, and a sentence about rows left out.

    Parameters
    ----------
    table : Table
        What it is.
    result : Result
        Its rows.
    labels : mapping
        Short names of version keys.
    """
    heading = (
        f'<h3 id="t-{table.name}">{escape(table.title)}</h3>'
        f'<p class="meta">{_count(result)} <a href="{table.name}.csv" download>CSV</a></p>'
    )
    if not result.total:
        return f'{heading}<p class="empty">Nothing to show: the database has no such rows.</p>'
    places = [i for i, name in enumerate(result.columns) if name not in table.hidden]
    numeric = {i for i in places if _is_numeric(result, i)}
    head = "".join(_header(result.columns[i], i in numeric) for i in places)
    body = "\n".join(
        "<tr>" + "".join(_cell(result.columns[i], row[i], labels) for i in places) + "</tr>"
        for row in result.rows
    )
    return (
        f'{heading}<div class="scroll" tabindex="0" role="region"'
        f' aria-label="{escape(table.title)}">'
        f'<table data-table="{table.name}"><thead><tr>{head}</tr></thead>'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _count(result: Result) -> str:
    if len(result.rows) < result.total:
        return (
            f"The first {len(result.rows):,} of {result.total:,} rows;"
            f" {result.total - len(result.rows):,} more are in the"
        )
    return f"{result.total:,} {'row' if result.total == 1 else 'rows'}, also as"


def _is_numeric(result: Result, place: int) -> bool:
    values = [row[place] for row in result.rows if row[place] is not None]
    return bool(values) and all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in values
    )


def _header(name: str, is_number: bool) -> str:
    kind = ' class="n"' if is_number else ""
    title = escape(name.removesuffix("_us").replace("_", " "))
    unit = " [us]" if name.endswith("_us") else ""
    return (
        f'<th{kind} scope="col" aria-sort="none"><button type="button">{title}{unit}</button></th>'
    )


def _cell(name: str, value: Any, labels: Mapping[str, str]) -> str:
    if value is None:
        return '<td class="none"></td>'
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        shown = str(value) if name in _PLAIN else number(value)
        return f'<td class="n" data-v="{value!r}">{shown}</td>'
    if name.endswith("version_key"):
        full = escape(str(value))
        return f'<td class="key" title="{full}">{escape(labels.get(str(value), str(value)))}</td>'
    if isinstance(value, bool):
        return f'<td class="{"yes" if value else "no"}">{text(value)}</td>'
    shown = text(value)
    if len(shown) > _LONG:
        return f'<td class="long"><div class="clamp">{escape(shown)}</div></td>'
    return f"<td>{escape(shown)}</td>"
