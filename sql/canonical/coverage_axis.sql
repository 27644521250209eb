-- Measured values of every axis of every regime, with the gap to the next one: the view coverage_axis without its lists.
-- reads: regime_axis, axis_rule
-- order: none; regime_axis holds regime.axis_names one a row, axis_rule is the view
-- source: sql/views/coverage_axis.sql
with axes as (
    select 1 as position union all select 2 as position union all select 3 as position union all select 4 as position
), values_of_axes as (
    select p.regime_id, a.position, p.measurement_count, case a.position when 1 then p.axis_1 when 2 then p.axis_2
        when 3 then p.axis_3 else p.axis_4 end as value
    from point as p cross join axes as a
), measured_values as (
    select r.version_id, r.kernel_type, r.path, r.input_limit, r.regime_id, r.regime_key, r.input_formats, a.axis_position,
        a.axis_name, v.value, count(*) as point_count, sum(v.measurement_count) as measurement_count
    from values_of_axes as v
    join regime_axis as a on a.regime_id = v.regime_id and a.axis_position = v.position
    join regime as r on r.regime_id = v.regime_id
    group by r.version_id, r.kernel_type, r.path, r.input_limit, r.regime_id, r.regime_key, r.input_formats, a.axis_position,
        a.axis_name, v.value
    union all
    select version_id, kernel_type, 'communication', 0, null, concat('{"num_devices":', coalesce(cast(num_devices as varchar),
            'null'), ',"topology_tier":', coalesce(cast(topology_tier as varchar), 'null'), '}'), '', 1, 'message_bytes',
        cast(message_bytes as double), count(distinct latency_column), count(*)
    from measurement where message_bytes is not null
    group by version_id, kernel_type, num_devices, topology_tier, message_bytes
), neighbours as (
    select version_id, kernel_type, path, input_limit, regime_id, regime_key, input_formats, axis_position, axis_name, value,
        point_count, measurement_count,
        count(*) over (partition by version_id, kernel_type, regime_id, regime_key, axis_position) as value_count,
        lag(value) over (partition by version_id, kernel_type, regime_id, regime_key, axis_position order by value)
            as previous_value,
        lead(value) over (partition by version_id, kernel_type, regime_id, regime_key, axis_position order by value)
            as next_value
    from measured_values
), rules_of_axes as (
    select distinct path, kernel_type, axis_name, rule_name from axis_rule
), limits as (
    select path, kernel_type, axis_name, range_from, range_to, max_gap, max_ratio,
        lag(range_to) over (partition by path, kernel_type, axis_name order by range_from) as value_from
    from axis_rule where required_value is null
), gaps as (
    select n.version_id, n.kernel_type, n.path, n.input_limit, n.regime_id, n.regime_key, n.input_formats, n.axis_position,
        n.axis_name, n.value, n.point_count, n.measurement_count, n.value_count, n.previous_value, n.next_value,
        n.next_value - n.value as gap, case when n.value > 0 then n.next_value / nullif(n.value, 0) end as ratio, q.rule_name,
        l.max_gap, l.max_ratio, greatest(n.value, l.range_from) + l.max_gap as gap_end,
        greatest(n.value, l.range_from) * l.max_ratio as ratio_end
    from neighbours as n
    left join rules_of_axes as q on q.path = n.path and q.kernel_type = n.kernel_type and q.axis_name = n.axis_name
    left join limits as l on l.path = n.path and l.kernel_type = n.kernel_type and l.axis_name = n.axis_name
        and (l.value_from is null or n.value >= l.value_from) and (l.range_to is null or n.value < l.range_to)
)
select v.version_key, g.kernel_type, g.path, g.input_limit, g.regime_id, g.regime_key, g.input_formats, g.axis_position,
    g.axis_name, g.value, g.point_count, cast(g.measurement_count as bigint) as measurement_count, g.value_count,
    g.previous_value, g.next_value, g.gap, g.ratio,
    case when g.gap is not null then row_number() over (partition by g.version_id, g.kernel_type, g.regime_id, g.regime_key,
        g.axis_position order by case when g.gap is null then 1 else 0 end, case when g.ratio is null then 0 else 1 end,
        g.ratio desc, g.gap desc, g.value) end as gap_rank,
    g.rule_name, g.max_gap, g.max_ratio, case when g.gap_end is null then g.ratio_end when g.ratio_end is null then g.gap_end
        when g.gap_end < g.ratio_end then g.gap_end else g.ratio_end end as largest_next_value
from gaps as g join profile_version as v on v.version_id = g.version_id
