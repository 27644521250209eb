-- Stretches of axes that break a density rule: those between measured values first, most values missing first.
select version_key, kernel_type, path, input_limit, regime_id, axis_name, place, value, next_value, missing_count, ratio,
    rule_name, broken_limits, missing_required, max_gap, max_ratio, value_count, regime_key
from density_gap
order by place <> 'inside', missing_count desc, ratio desc nulls last, version_key, gap_rank
