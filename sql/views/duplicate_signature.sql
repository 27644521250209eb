-- Calls that a file measured more than once, whether their latencies agree or not.
-- example: Which rows of a CSV could be merged because they measured the same call?
create or replace view duplicate_signature as
with duplicates as (
    select c.file_id, min(c.row_id) as row_id, count(*) as row_count,
        list(c.line_number order by c.row_number) as line_numbers, min(m.latency_us) as latency_min_us,
        max(m.latency_us) as latency_max_us
    from comparable_row as c join measurement as m using (row_id)
    group by c.file_id, c.content, c.context
    having count(*) > 1
)
select v.version_key, m.kernel_type, f.file_name, d.row_id, m.input_shapes, m.input_dtypes, m.input_formats,
    m.output_shapes, d.row_count, d.line_numbers, d.latency_min_us, d.latency_max_us,
    d.latency_min_us < d.latency_max_us as is_conflicting
from duplicates as d
join measurement as m using (row_id)
join source_file as f on f.file_id = d.file_id
join profile_version as v on v.version_id = m.version_id
order by d.row_count desc, d.row_id;
comment on view duplicate_signature is 'One row per group of rows of a file with equal shapes, dtypes, formats, outputs and runtime context, the largest first [source: comparable_row, measurement]';
comment on column duplicate_signature.version_key is 'Version [profile_version.version_key]';
comment on column duplicate_signature.kernel_type is 'Kernel [measurement.kernel_type]';
comment on column duplicate_signature.file_name is 'CSV of the rows [source_file.file_name]';
comment on column duplicate_signature.row_id is 'First of the rows [measurement.row_id]';
comment on column duplicate_signature.input_shapes is 'Input shapes by slot [elements, measurement.input_shapes]';
comment on column duplicate_signature.input_dtypes is 'Input dtypes by slot [list of text, measurement.input_dtypes]';
comment on column duplicate_signature.input_formats is 'Input formats by slot [list of text, measurement.input_formats]';
comment on column duplicate_signature.output_shapes is 'Output shapes by slot [elements, measurement.output_shapes]';
comment on column duplicate_signature.row_count is 'Rows with the signature [count]';
comment on column duplicate_signature.line_numbers is 'Physical lines of the rows in the CSV, ascending [count]';
comment on column duplicate_signature.latency_min_us is 'Smallest latency [us]';
comment on column duplicate_signature.latency_max_us is 'Largest latency [us]';
comment on column duplicate_signature.is_conflicting is 'Whether the latencies differ; those groups are in conflicting_latency, too [boolean]';
