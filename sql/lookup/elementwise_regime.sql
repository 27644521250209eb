-- Measured regimes of elementwise targets; axis_1 may vary only where the output has rank 2.
-- reads: matches
-- source: profiling RFC phase 2, section 4.2.1
select *, case when (regime_key ->> 'output_rank') = '2' then [] else [1] end as fixed_axes
from matches
order by item_id, regime_id
