-- Stretches inside of axes that break a density rule, for the heat maps.
select version_key, kernel_type, regime_id, regime_key, axis_name, value, next_value
from density_gap
where place = 'inside'
order by version_key, gap_rank
