-- Hardware counters of the new measurements.
insert into hardware_counter by name
with counters as (
    select file_id, row_number, number_cell(columns(lambda name: list_contains(getvariable('counter_columns'), name)))
    from staged_row
)
select row_id, c.* exclude (file_id, row_number)
from counters as c join measurement as m using (file_id, row_number)
order by row_id
