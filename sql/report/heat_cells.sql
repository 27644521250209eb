-- Points of each axis of each regime by powers of two of its values, for the largest kernels and regimes.
-- param: kernels integer [count, kernels of a version that are drawn]
-- param: collectives integer [count, collectives that are drawn besides]
-- param: regimes integer [count, regimes of each kernel that are drawn]
with bins as (
    select version_key, kernel_type, path, regime_id, regime_key, axis_position, axis_name,
        if(value >= 1, floor(log2(value))::integer, -1) as octave, sum(point_count)::bigint as point_count,
        count(*) as value_count
    from coverage_axis
    group by version_key, kernel_type, path, regime_id, regime_key, axis_position, axis_name, octave
), sums as (
    select version_key, kernel_type, regime_id, regime_key, path = 'communication' as is_collective,
        sum(point_count) filter (axis_position = 1) as regime_points
    from bins group by version_key, kernel_type, regime_id, regime_key, is_collective
), kernel_sums as (
    select version_key, kernel_type, is_collective, sum(regime_points) as kernel_points, count(*) as regime_count
    from sums group by version_key, kernel_type, is_collective
), kernel_ranks as (
    select *, row_number() over (partition by is_collective order by kernel_points desc, version_key, kernel_type) as kernel_rank,
        count(*) over () as kernel_count
    from kernel_sums
), regime_ranks as (
    select *, row_number() over (partition by version_key, kernel_type order by regime_points desc, regime_id, regime_key)
        as regime_rank
    from sums
)
select b.version_key, b.kernel_type, b.path, b.regime_id, b.regime_key, b.axis_position, b.axis_name, b.octave,
    b.point_count, b.value_count, k.is_collective, k.kernel_rank, k.kernel_count, k.regime_count,
    k.kernel_points::bigint as kernel_points, r.regime_rank
from bins as b
join regime_ranks as r on r.version_key = b.version_key and r.kernel_type = b.kernel_type
    and r.regime_id is not distinct from b.regime_id and r.regime_key = b.regime_key
join kernel_ranks as k on k.version_key = b.version_key and k.kernel_type = b.kernel_type
    and k.is_collective = r.is_collective
where k.kernel_rank <= if(k.is_collective, $collectives, $kernels) and r.regime_rank <= $regimes
order by k.is_collective, k.kernel_rank, r.regime_rank, b.axis_position, b.octave
