-- How densely each axis of each regime is measured, regimes with the most points first.
select version_key, kernel_type, path, input_limit, regime_id, axis_name, min(value_count) as value_count,
    min(value) as smallest, max(value) as largest, max(ratio) as widest_ratio, arg_max(value, ratio) as widest_from,
    arg_max(next_value, ratio) as widest_to, any_value(rule_name) as rule_name,
    count(*) filter (len(broken_limits) > 0) as broken_count, sum(point_count)::bigint as point_count, regime_key
from coverage_axis
group by version_key, kernel_type, path, input_limit, regime_id, axis_name, axis_position, regime_key
order by point_count desc, version_key, kernel_type, regime_id, regime_key, axis_position
