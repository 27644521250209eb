-- Distinct measured M, K and N of the kernels that have these axes, kernels with the most of them first.
-- param: kernels integer [count, kernels of a version that are drawn]
with coordinates as (
    select version_key, kernel_type, axis_values[list_position(axis_names, 'M')] as m,
        axis_values[list_position(axis_names, 'K')] as k, axis_values[list_position(axis_names, 'N')] as n,
        max(measurement_count) as measurement_count, min(latency_mean_us) as latency_min_us,
        max(latency_mean_us) as latency_max_us
    from measured_point where list_has_all(axis_names, ['M', 'K', 'N'])
    group by version_key, kernel_type, m, k, n
), kernels as (
    select version_key, kernel_type, count(*) as kernel_points from coordinates group by version_key, kernel_type
), ranks as (
    select *, row_number() over (order by kernel_points desc, version_key, kernel_type) as kernel_rank,
        count(*) over () as kernel_count
    from kernels
)
select c.version_key, c.kernel_type, c.m, c.k, c.n, c.measurement_count, c.latency_min_us, c.latency_max_us,
    r.kernel_points, r.kernel_rank, r.kernel_count
from coordinates as c join ranks as r using (version_key, kernel_type)
where r.kernel_rank <= $kernels
order by r.kernel_rank, c.m, c.k, c.n
