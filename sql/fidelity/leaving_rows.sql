-- Notes the measurements of coordinates that are held out, every latency column and repetition.
-- param: held varchar [JSON list: regime_id, axes]
insert into leaving_row
select distinct row_id
from (select unnest(from_json($held, '[{"regime_id": "INTEGER", "axis_1": "DOUBLE", "axis_2": "DOUBLE", "axis_3": "DOUBLE",
    "axis_4": "DOUBLE"}]'), recursive := true)) as held
join held_place using (regime_id, axis_1, axis_2, axis_3, axis_4)
