-- Puts a copy of the points without those of a hold-out in front of the table of the file, for this connection only.
-- param: held varchar [JSON list: regime_id, axes]
create or replace temp table point as
with held as (
    select unnest(from_json($held, '[{"regime_id": "INTEGER", "axis_1": "DOUBLE", "axis_2": "DOUBLE", "axis_3": "DOUBLE",
        "axis_4": "DOUBLE"}]'), recursive := true)
)
select p.* from profiling.point as p anti join held using (regime_id, axis_1, axis_2, axis_3, axis_4)
order by p.regime_id, p.axis_1, p.axis_2, p.axis_3, p.axis_4, p.latency_rank, p.latency_column
