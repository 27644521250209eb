-- What is wrong with the cells of staged rows; fatal problems reject the row.
create or replace temp table cell_problem as
with numeric_rows as (
    select rowid as staged_id from staged_row
    where is_plain_number(columns(lambda name: list_contains(getvariable('number_columns'), name)))
), integral_rows as (
    select rowid as staged_id from staged_row
    where is_plain_integer(columns(lambda name: list_contains(getvariable('integer_columns'), name)))
), suspect_rows as (
    select rowid as staged_id, * from staged_row
    where rowid not in (select staged_id from numeric_rows) or rowid not in (select staged_id from integral_rows)
        or least(try_cast(average_us as double), try_cast(profiling_average_us as double), try_cast(duration_us as double)) < 0
), latencies as (
    select staged_id, column_name, number_cell(cell) as cell, try_cast(number_cell(cell) as double) as latency_us,
        lower(trim(cell)) in ('nan', '-nan', '+nan') as is_nan
    from (unpivot (select staged_id, average_us, profiling_average_us, duration_us from suspect_rows)
          on average_us, profiling_average_us, duration_us into name column_name value cell)
), numbers as (
    select staged_id, column_name, number_cell(cell) as cell
    from (unpivot (select * exclude (average_us, profiling_average_us, duration_us) from suspect_rows)
          on columns(lambda name: list_contains(getvariable('number_columns'), name)) into name column_name value cell)
), problems as (
    select staged_id, 'input_shapes' as column_name, true as is_fatal, 1 as precedence,
        if(len(shape_slots) = 0, 'blank_shape', 'malformed_shape') as reason
    from slot_row where not is_communication and not coalesce(shapes_are_well_formed, false)
    union all
    select staged_id, 'output_shapes', false, 9, 'malformed_shape' from slot_row where not outputs_are_well_formed
    union all
    select staged_id, 'input_dtypes', false, 9, 'dtype_count_mismatch' from operand_row
    where not is_communication and coalesce(shapes_are_well_formed, false)
        and list_bool_or(list_transform(operand_dtypes, lambda dtype: dtype is null or dtype in ('', 'DT_UNDEFINED')))
    union all
    select staged_id, column_name, true, 2, 'not_an_integer' from numbers
    where list_contains(getvariable('integer_columns'), column_name) and cell is not null
        and (not regexp_full_match(cell, '[+-]?[0-9]{1,18}(\.0*)?')
            or (list_contains(getvariable('short_integer_columns'), column_name) and try_cast(cell as integer) is null))
    union all
    select staged_id, column_name, false, 9, 'not_a_number'
    from numbers where not list_contains(getvariable('integer_columns'), column_name) and cell is not null
        and finite_number(cell) is null
    union all
    select s.rowid, needed, true, 4, 'blank_cell' from staged_row as s
    join loading_file using (file_id), (values ('message_bytes'), ('num_devices')) as required(needed)
    where is_communication and number_cell(case needed when 'message_bytes' then message_bytes else num_devices end) is null
    union all
    select l.staged_id, l.column_name, r.raw_latency_us is null, 5,
        case when is_nan or not isfinite(latency_us) then 'latency_not_finite'
             when latency_us is null then 'latency_not_a_number' else 'latency_negative' end
    from latencies as l join slot_row as r using (staged_id)
    where is_nan or (l.cell is not null and (latency_us is null or not isfinite(latency_us) or latency_us < 0))
)
select problems.*, list_filter(column_names, lambda name: list_contains(csv_names, name))[1] as header
from problems join slot_row using (staged_id) join source_file using (file_id)
left join (select column_name, list(csv_name) as csv_names from csv_column group by column_name) using (column_name)
