-- What each version knows about each kernel that has a CSV: rows, regimes, points, latency columns, mapped or not.
-- example: Which mapped kernels have fewer than 20 measurements?
create or replace view kernel_coverage as
with latencies as (
    select m.file_id, m.signature_id, m.latency_column,
        coalesce(m.average_us > 0 and isfinite(m.average_us), false) as has_average, a.meaning,
        coalesce(m.profiling_average_us > 0 and isfinite(m.profiling_average_us), false) as has_profiling
    from measurement as m join average_meaning as a using (file_id)
), measured as (
    select file_id, count(distinct signature_id) as signature_count,
        list_sort(list(distinct latency_column)) as latency_columns,
        count(*) filter (has_average and meaning = 'microbench_minimum' and has_profiling) as both_count,
        count(*) filter (has_average and meaning = 'microbench_minimum' and not has_profiling) as microbench_only_count,
        count(*) filter (has_profiling and not has_average or has_average and meaning = 'profiling_mean') as profiling_only_count
    from latencies group by file_id
), regimes as (
    select file_id, count(*) as regime_count, list_sort(list(distinct path)) as paths from regime group by file_id
), points as (
    select file_id, count(*) as point_count from point join regime using (regime_id) group by file_id
), assigned as (
    select file_id, count(distinct operator) as operator_count from assigned_kernel
    where file_id is not null group by file_id
)
select v.version_key, f.kernel_type, f.status, f.rows_read, f.rows_stored, f.rows_rejected, f.rows_without_latency,
    coalesce(m.both_count, 0) as both_count, coalesce(m.microbench_only_count, 0) as microbench_only_count,
    coalesce(m.profiling_only_count, 0) as profiling_only_count, coalesce(m.signature_count, 0) as signature_count,
    coalesce(r.regime_count, 0) as regime_count,
    coalesce(p.point_count, 0) as point_count, coalesce(r.paths, []) as paths,
    coalesce(m.latency_columns, []) as latency_columns, coalesce(a.operator_count, 0) as operator_count,
    a.file_id is not null as is_mapped
from source_file as f
join profile_version as v using (version_id)
left join measured as m using (file_id)
left join regimes as r using (file_id)
left join points as p using (file_id)
left join assigned as a using (file_id)
order by v.version_key, f.kernel_type;
comment on view kernel_coverage is 'One row per version and kernel CSV [source: source_file, measurement, average_meaning, regime, point, assigned_kernel]';
comment on column kernel_coverage.version_key is 'Version [profile_version.version_key]';
comment on column kernel_coverage.kernel_type is 'Kernel, the stem of the CSV [source_file.kernel_type]';
comment on column kernel_coverage.status is 'loaded, or why nothing was [source_file.status]';
comment on column kernel_coverage.rows_read is 'Data rows read = stored + rejected + without latency [count]';
comment on column kernel_coverage.rows_stored is 'Rows that are measurements [count]';
comment on column kernel_coverage.rows_rejected is 'Rows that could not be used [count]';
comment on column kernel_coverage.rows_without_latency is 'Rows that wait for a measurement [count]';
comment on column kernel_coverage.both_count is 'Stored rows with a microbenchmark and a profiling latency [count]';
comment on column kernel_coverage.microbench_only_count is 'Stored rows with a microbenchmark latency only; see average_meaning [count]';
comment on column kernel_coverage.profiling_only_count is 'Stored rows with a profiling latency only, see average_meaning; collectives and files that do not tell have neither [count]';
comment on column kernel_coverage.signature_count is 'Distinct measured signatures [count, measurement.signature_id]';
comment on column kernel_coverage.regime_count is 'Regimes, once per path and input limit that the kernel is looked up by [count, regime]';
comment on column kernel_coverage.point_count is 'Points in those regimes [count, point]';
comment on column kernel_coverage.paths is 'Paths that placed the measurements [list of text, regime.path]';
comment on column kernel_coverage.latency_columns is 'CSV columns that latencies came from [list of text, measurement.latency_column]';
comment on column kernel_coverage.operator_count is 'Operators whose entry names the kernel, in every version that reads the file [count, op_mapping]';
comment on column kernel_coverage.is_mapped is 'Whether any entry names the kernel [boolean]';
