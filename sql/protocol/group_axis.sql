-- Measured values of every axis of regimes, as they are stored.
-- param: regime_ids integer[] [the regimes]
with axis_values as (
    select unnest([1, 2, 3, 4]) as position, unnest([axis_1, axis_2, axis_3, axis_4]) as value
    from point where regime_id in (select unnest($regime_ids))
)
select distinct position, value
from axis_values
order by position, value
