-- Histogram of what the rows of each kernel say about the completeness of their runtime metadata.
-- example: Which share of the attention rows of each version was recorded with runtime values?
create or replace view metadata_completeness as
with kernels as (
    select distinct kernel_type from measurement where trim(runtime_metadata_completeness) <> ''
), histogram as (
    select m.file_id, nullif(trim(m.runtime_metadata_completeness), '') as completeness, count(*) as row_count,
        count(*) filter (m.runtime_avg_seq_len is null and m.avg_seq_len is null) as without_length_count
    from measurement as m join kernels using (kernel_type)
    group by all
)
select v.version_key, f.kernel_type, f.file_name, h.completeness,
    list_contains(f.column_names, 'Runtime metadata_completeness') as has_column, h.row_count,
    h.row_count / f.rows_stored as share, h.without_length_count
from histogram as h join source_file as f using (file_id) join profile_version as v using (version_id)
order by v.version_key, f.kernel_type, h.row_count desc, h.completeness;
comment on view metadata_completeness is 'One row per file and value, of the kernels that tell it in any version [source: measurement, source_file]';
comment on column metadata_completeness.version_key is 'Version [profile_version.version_key]';
comment on column metadata_completeness.kernel_type is 'Kernel [source_file.kernel_type]';
comment on column metadata_completeness.file_name is 'CSV of the rows [source_file.file_name]';
comment on column metadata_completeness.completeness is 'CSV column Runtime metadata_completeness, e.g. runtime_values or complete; null when blank or absent [text]';
comment on column metadata_completeness.has_column is 'Whether the CSV has that column [boolean, source_file.column_names]';
comment on column metadata_completeness.row_count is 'Measurements with the value [count]';
comment on column metadata_completeness.share is 'Measurements with the value over all measurements of the file [ratio 0..1]';
comment on column metadata_completeness.without_length_count is 'Those of them that tell no mean sequence length [count; measurement.runtime_avg_seq_len, measurement.avg_seq_len]';
