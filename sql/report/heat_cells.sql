-- Points of each axis of each regime by powers of two of its values, for the largest kernels and regimes.
-- param: kernels integer [count, kernels of a version that are drawn]
-- param: regimes integer [count, regimes of each kernel that are drawn]
with bins as (
    select version_key, kernel_type, path, regime_id, axis_position, axis_name,
        if(value >= 1, floor(log2(value))::integer, -1) as octave, sum(point_count)::bigint as point_count,
        count(*) as value_count
    from coverage_axis
    group by version_key, kernel_type, path, regime_id, axis_position, axis_name, octave
), sums as (
    select version_key, kernel_type, regime_id, sum(point_count) filter (axis_position = 1) as regime_points
    from bins group by version_key, kernel_type, regime_id
), kernel_sums as (
    select version_key, kernel_type, sum(regime_points) as kernel_points, count(*) as regime_count
    from sums group by version_key, kernel_type
), kernel_ranks as (
    select *, row_number() over (order by kernel_points desc, version_key, kernel_type) as kernel_rank,
        count(*) over () as kernel_count
    from kernel_sums
), regime_ranks as (
    select *, row_number() over (partition by version_key, kernel_type order by regime_points desc, regime_id) as regime_rank
    from sums
)
select b.version_key, b.kernel_type, b.path, b.regime_id, b.axis_position, b.axis_name, b.octave, b.point_count,
    b.value_count, k.kernel_rank, k.kernel_count, k.regime_count, k.kernel_points::bigint as kernel_points,
    r.regime_rank
from bins as b
join kernel_ranks as k using (version_key, kernel_type)
join regime_ranks as r using (version_key, kernel_type, regime_id)
where k.kernel_rank <= $kernels and r.regime_rank <= $regimes
order by k.kernel_rank, r.regime_rank, b.axis_position, b.octave
