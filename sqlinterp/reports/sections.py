"""What the report contains: its sections in order, their tables, and how much of each is shown."""

from __future__ import annotations

from dataclasses import dataclass

_LIMIT = 50
_ASIDE = ("path", "input_limit", "regime_key")


@dataclass(frozen=True)
class Table:
    """One table: ``name`` is its query in ``sql/report``, its CSV file and its anchor.

    Attributes
    ----------
    name : str
        Stem of the query.
    title : str
        Heading above the table.
    hidden : tuple of str
        Columns that only the CSV has.
    limit : int
        Most rows on the page; the CSV has all.
    """

    name: str
    title: str
    hidden: tuple[str, ...] = ()
    limit: int = _LIMIT


@dataclass(frozen=True)
class Section:
    """One section: an anchor, a heading, a sentence, tables, and the name of its figures."""

    anchor: str
    title: str
    intro: str
    tables: tuple[Table, ...]
    figures: str = ""


SECTIONS = (
    Section(
        "versions",
        "Versions",
        "Where every row that was read went. The difference of rows read and the three ends that a"
        " row can have must be 0.",
        (Table("versions", "Versions", limit=200),),
    ),
    Section(
        "files",
        "Files and their health",
        "Files with problems come first. Clean means: loaded, nothing rejected, nothing noted.",
        (
            Table("file_health", "Files", ("sha256",)),
            Table("ingest_issues", "Warnings and errors about files and mappings"),
            Table("rejected_rows", "Reasons for rejected rows"),
        ),
    ),
    Section(
        "rows",
        "Rows by kind",
        "Stored rows are measurements: with a latency of the microbenchmark, of the profiler, of"
        " both, or of neither kind (collectives, files that do not tell). Rejected rows could not"
        " be read; rows without latency wait for a measurement. Rows that have no place on the"
        " axes of their path can only be found by equal shapes, or not at all.",
        (
            Table("kernel_rows", "Kernels, the largest first", ("latency_columns",)),
            Table("unplaced_rows", "Measurements without a place on the axes of their path"),
            Table("metadata_completeness", "Completeness of runtime metadata"),
        ),
        "rows_by_kind",
    ),
    Section(
        "mapping",
        "Mapping coverage",
        "Operators of each mapping by lookup path and query mode, and how many have measurements"
        " for every kernel that their entry names.",
        (
            Table("mapping_coverage", "Operators by lookup path and query mode"),
            Table("mapped_without_data", "Kernels that a mapping names and that have no data"),
            Table("data_without_mapping", "CSV files that no mapping names"),
        ),
        "mapping_coverage",
    ),
    Section(
        "density",
        "Axis density",
        "Each line of a heat map is one axis of one regime, each column the values from one power"
        " of two to the next; the number is how many distinct values were measured there. A pink"
        " line below marks a stretch that breaks the density rule of the axis.",
        (
            Table(
                "axis_density", "Axes of regimes, those with the most points first", ("regime_key",)
            ),
        ),
        "axis_density",
    ),
    Section(
        "mkn",
        "Measured M, K and N",
        "One dot for each measured M and N; the colour is K, the dot grows with the number of K"
        " values measured there.",
        (Table("mkn_summary", "Kernels with these axes"),),
        "mkn_points",
    ),
    Section(
        "gaps",
        "Worst gaps",
        "Stretches of an axis that are measured more thinly than the density rules want: between"
        " two measured values, where answers are interpolated, and from the ends of the axis to"
        " required values, where there are none. Then the widest gaps by ratio, whether a rule"
        " limits them or not, and the rows whose microbenchmark and profiling latencies disagree."
        " 'sqlinterp density' shows and changes the rules.",
        (
            Table("density_gaps", "Broken density rules, most values missing first", _ASIDE),
            Table("axis_gaps", "Gaps of axes, the widest first", _ASIDE),
            Table("source_gaps", "Microbenchmark against profiling, ratio outside 0.8 to 1.2"),
        ),
        "density_gaps",
    ),
    Section(
        "drift",
        "Version drift",
        "Latency of equal signatures, new over old: above 1 is slower. In the plots a dot is the"
        " median of a kernel, its line reaches from the smallest to the largest ratio, and the"
        " number of signatures is in brackets. Where the versions recorded different quantities,"
        " the row is not like for like; the profiling ratio always compares profiling means.",
        (
            Table("drift_by_kernel", "Kernels, the largest median change first"),
            Table("drift_by_signature", "Signatures, the largest change first"),
            Table("column_drift", "CSV columns that another version has", ("missing_columns",)),
        ),
        "version_drift",
    ),
    Section(
        "conflicts",
        "Conflicting duplicates",
        "Rows of one file with equal shapes, dtypes, formats and runtime context and different"
        " latencies.",
        (Table("conflicts", "Conflicts, the widest first"),),
    ),
    Section(
        "latency",
        "Latency columns used",
        "CSV columns that lookups read latencies from, what the number is, and why it was taken.",
        (Table("latency_sources", "Columns by version"),),
        "latency_sources",
    ),
)
