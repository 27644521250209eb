-- Values at one end of an axis in the cloud of each question: two octaves below the top, or the lowest ones.
-- param: questions varchar [JSON list: id, regime, latency column, axis, whether its upper end is meant]
-- order: question, distance from the end
with questions as (
    select unnest(from_json($questions, '[{"id": "INTEGER", "regime_id": "INTEGER", "latency_column": "VARCHAR",
        "axis": "INTEGER", "is_upper": "BOOLEAN"}]'), recursive := true)
), axis_values as (
    select distinct id, is_upper, [axis_1, axis_2, axis_3, axis_4][axis] as x
    from questions join point using (regime_id, latency_column)
    where is_kept(id, axis_1, axis_2, axis_3, axis_4)
), ends as (
    select *, max(x) over (partition by id) as top, row_number() over (partition by id order by x) as place
    from axis_values
), eighths as (
    select id, is_upper, place, x, if(is_upper and x > 0, floor(8 * log2(top / x)), place) as eighth
    from ends where if(is_upper, x >= top / 4, place <= 4)
)
select id, max(x) as x
from eighths group by id, is_upper, eighth
order by id, if(is_upper, -max(x), max(x))
