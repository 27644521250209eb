-- Gaps between neighbouring measured values of an axis, the widest ratio first, also where no rule limits them.
select version_key, kernel_type, path, input_limit, regime_id, axis_name, value, next_value, ratio, gap, rule_name,
    broken_limits, value_count, regime_key
from coverage_axis
where gap is not null
order by ratio desc nulls last, gap desc, version_key, kernel_type, regime_id, regime_key, axis_position, value
