-- Distinct values on one axis of an axis group, for every value of the axes that are fixed in it.
-- param: varying integer [axes of the group: 1, 2, 4 and 8 for the first to the fourth, added up]
-- param: axis integer [one of them]
-- param: is_counted boolean [whether points are counted, which one axis of a group is enough for]
insert into axis_level
select regime_id, $varying, if($varying & 1 > 0, -1, axis_1) as k_1, if($varying & 2 > 0, -1, axis_2) as k_2,
    if($varying & 4 > 0, -1, axis_3) as k_3, if($varying & 8 > 0, -1, axis_4) as k_4, $axis,
    case $axis when 1 then axis_1 when 2 then axis_2 when 3 then axis_3 else axis_4 end as value,
    latency_column, latency_rank, if($is_counted, count(*), 0), if($is_counted, sum(measurement_count), 0)
from point join levelled_regime using (regime_id)
where $varying < 1 << axis_count
group by regime_id, k_1, k_2, k_3, k_4, value, latency_column, latency_rank
order by regime_id, k_1, k_2, k_3, k_4, value, latency_rank, latency_column
