-- Equal signatures, down to formats and runtime metadata, whose latencies differ.
-- example: Which rows of one file contradict each other most?
create or replace view conflicting_latency as
with keyed_rows as (
    select file_id, row_id, row_number, line_number, latency_us, latency_column,
        row(input_shapes, operand_dtypes, operand_formats, output_shapes, output_dtypes, output_formats)::varchar as content,
        row(*columns(lambda name: name in ('ep_size', 'avg_seq_len', 'message_bytes', 'num_devices', 'topology_tier',
                'communication_dtype') or starts_with(name, 'runtime_') and name not in ('runtime_source_profile',
                'runtime_case_id', 'runtime_metadata_completeness', 'runtime_operator_input_shapes_raw')))::varchar as context
    from measurement
), conflicts as (
    select file_id, min(row_id) as row_id, count(*) as row_count, list(line_number order by row_number) as line_numbers,
        list_sort(list(distinct latency_column)) as latency_columns, min(latency_us) as latency_min_us,
        max(latency_us) as latency_max_us, max(latency_us) / min(latency_us) as ratio
    from keyed_rows group by file_id, content, context
    having min(latency_us) < max(latency_us)
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
