-- How far the measurements on points lie apart: the greatest over the least.
-- param: regime_ids integer[] [the regimes]
-- param: targets varchar [JSON list: axes]
with targets as (
    select unnest(from_json($targets, '[{"t_1": "DOUBLE", "t_2": "DOUBLE", "t_3": "DOUBLE", "t_4": "DOUBLE"}]'),
        recursive := true)
)
select axis_1, axis_2, axis_3, axis_4, max(latency_max_us / latency_min_us) as spread
from point join targets on axis_1 = t_1 and axis_2 = t_2 and axis_3 = t_3 and axis_4 = t_4
where regime_id in (select unnest($regime_ids))
group by all
order by all
