-- Hardware counters of the new measurements, from files that have any.
insert into hardware_counter by name
with counters as (
    select staged_id, columns(lambda name: list_contains(getvariable('counter_columns'), name))
    from staged_row where file_id in (select file_id from loading_file where has_counters)
)
select row_id, c.* exclude (staged_id)
from counters as c join stored_row using (staged_id)
order by row_id
