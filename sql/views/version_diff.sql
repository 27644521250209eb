-- Latency of equal signatures in two versions.
-- example: Which kernels became slower between v0.15 and v0.18, like for like?
create or replace view version_diff as
with labelled_rows as (
    select c.row_id, c.version_id, c.kernel_type, c.content, c.context, e.latency_us, e.latency_column, e.quantity,
        if(a.meaning = 'profiling_mean', e.average_us, e.profiling_average_us) as profiling_us
    from comparable_row as c join effective_latency as e using (row_id) join average_meaning as a using (file_id)
), signatures as (
    select version_id, kernel_type, content, context, min(row_id) as row_id, count(*) as row_count,
        avg(latency_us order by latency_us) as latency_us, list_sort(list(distinct latency_column)) as latency_columns,
        list_sort(list(distinct quantity)) as quantities,
        avg(profiling_us order by profiling_us) filter (profiling_us > 0 and isfinite(profiling_us)) as profiling_us
    from labelled_rows group by version_id, kernel_type, content, context
), versions as (
    select version_id, version_key, row_number() over (order by list_transform(regexp_extract_all(version_key, '[0-9]+'),
        lambda digits: lpad(digits, 20, '0')), version_key) as age
    from profile_version
)
select v.version_key as old_version_key, w.version_key as new_version_key, o.kernel_type, m.input_shapes, m.input_dtypes,
    m.input_formats, m.output_shapes, m.output_dtypes, o.row_count as old_row_count, n.row_count as new_row_count,
    o.latency_us as old_latency_us, n.latency_us as new_latency_us, n.latency_us / o.latency_us as ratio,
    o.latency_columns as old_latency_columns, n.latency_columns as new_latency_columns, o.quantities as old_quantities,
    n.quantities as new_quantities, o.quantities = n.quantities as is_like_for_like, o.profiling_us as old_profiling_us,
    n.profiling_us as new_profiling_us, n.profiling_us / o.profiling_us as profiling_ratio
from signatures as o
join signatures as n on n.kernel_type = o.kernel_type and n.content = o.content and n.context = o.context
join versions as v on v.version_id = o.version_id
join versions as w on w.version_id = n.version_id and v.age < w.age
join measurement as m on m.row_id = o.row_id
order by old_version_key, new_version_key, o.kernel_type, o.content, o.context;
comment on view version_diff is 'One row per pair of versions and signature (kernel, shapes, dtypes, formats, outputs, runtime context) that both measured; several rows of a version are averaged [source: comparable_row, effective_latency]';
comment on column version_diff.old_version_key is 'Version whose key sorts first, numbers by value [profile_version.version_key]';
comment on column version_diff.new_version_key is 'Version whose key sorts later [profile_version.version_key]';
comment on column version_diff.kernel_type is 'Kernel [measurement.kernel_type]';
comment on column version_diff.input_shapes is 'Input shapes by slot [elements, measurement.input_shapes]';
comment on column version_diff.input_dtypes is 'Input dtypes by slot [list of text, measurement.input_dtypes]';
comment on column version_diff.input_formats is 'Input formats by slot [list of text, measurement.input_formats]';
comment on column version_diff.output_shapes is 'Output shapes by slot [elements, measurement.output_shapes]';
comment on column version_diff.output_dtypes is 'Output dtypes by slot [list of text, measurement.output_dtypes]';
comment on column version_diff.old_row_count is 'Measurements of the old version [count]';
comment on column version_diff.new_row_count is 'Measurements of the new version [count]';
comment on column version_diff.old_latency_us is 'Mean effective latency of the old version [us]';
comment on column version_diff.new_latency_us is 'Mean effective latency of the new version [us]';
comment on column version_diff.ratio is 'New over old effective latency; see is_like_for_like: Average Duration(us) is a mean in some files and a minimum in others [ratio]';
comment on column version_diff.old_latency_columns is 'CSV columns of the old latencies [list of text]';
comment on column version_diff.new_latency_columns is 'CSV columns of the new latencies [list of text]';
comment on column version_diff.old_quantities is 'What the old latencies are, e.g. profiling_mean [list of text, effective_latency.quantity]';
comment on column version_diff.new_quantities is 'What the new latencies are [list of text, effective_latency.quantity]';
comment on column version_diff.is_like_for_like is 'Whether both are the same quantity, so that ratio is a change of the kernel and not of what was recorded [boolean]';
comment on column version_diff.old_profiling_us is 'Mean profiling mean of the old version, null when not profiled [us]';
comment on column version_diff.new_profiling_us is 'Mean profiling mean of the new version, null when not profiled [us]';
comment on column version_diff.profiling_ratio is 'New over old profiling mean: like for like [ratio]';
