-- Regime, axes and told spread of the numbered rows.
insert into declared_row by name
select row_id, regime_key, axis_1, axis_2, axis_3, axis_4, min_us, max_us, mean_us, median_us, std_us
from numbered_row
order by row_id
