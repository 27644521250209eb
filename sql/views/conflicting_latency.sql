-- Equal signatures, down to formats and runtime metadata, whose latencies differ.
-- example: Which rows of one file contradict each other most?
create or replace view conflicting_latency as
with conflicts as (
    select c.file_id, min(c.row_id) as row_id, count(*) as row_count,
        list(c.line_number order by c.row_number) as line_numbers,
        list_sort(list(distinct m.latency_column)) as latency_columns, min(m.latency_us) as latency_min_us,
        max(m.latency_us) as latency_max_us, max(m.latency_us) / min(m.latency_us) as ratio
    from comparable_row as c join measurement as m using (row_id)
    group by c.file_id, c.content, c.context
    having min(m.latency_us) < max(m.latency_us)
)
select v.version_key, m.kernel_type, f.file_name, c.row_id, m.input_shapes, m.input_dtypes, m.input_formats,
    m.output_shapes, c.row_count, c.line_numbers, c.latency_columns, c.latency_min_us, c.latency_max_us, c.ratio,
    len(c.latency_columns) > 1 as is_across_columns
from conflicts as c
join measurement as m using (row_id)
join source_file as f on f.file_id = c.file_id
join profile_version as v on v.version_id = m.version_id
order by c.ratio desc, c.row_id;
comment on view conflicting_latency is 'One row per group of rows of a file with equal shapes, dtypes, formats, outputs and runtime context and different latencies, widest first [source: measurement]';
comment on column conflicting_latency.version_key is 'Version [profile_version.version_key]';
comment on column conflicting_latency.kernel_type is 'Kernel [measurement.kernel_type]';
comment on column conflicting_latency.file_name is 'CSV of the rows [source_file.file_name]';
comment on column conflicting_latency.row_id is 'First of the rows [measurement.row_id]';
comment on column conflicting_latency.input_shapes is 'Input shapes by slot [elements, measurement.input_shapes]';
comment on column conflicting_latency.input_dtypes is 'Input dtypes by slot [list of text, measurement.input_dtypes]';
comment on column conflicting_latency.input_formats is 'Input formats by slot [list of text, measurement.input_formats]';
comment on column conflicting_latency.output_shapes is 'Output shapes by slot [elements, measurement.output_shapes]';
comment on column conflicting_latency.row_count is 'Rows with the signature [count]';
comment on column conflicting_latency.line_numbers is 'Physical lines of the rows in the CSV, ascending [count]';
comment on column conflicting_latency.latency_columns is 'CSV columns of their latencies [list of text, measurement.latency_column]';
comment on column conflicting_latency.latency_min_us is 'Smallest latency [us]';
comment on column conflicting_latency.latency_max_us is 'Largest latency [us]';
comment on column conflicting_latency.ratio is 'Largest over smallest [ratio]';
comment on column conflicting_latency.is_across_columns is 'Whether the latencies come from different CSV columns, which lookups never mix [boolean]';
