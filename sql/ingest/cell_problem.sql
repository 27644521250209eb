-- What is wrong with the cells of staged rows; fatal problems reject the row.
create or replace temp table cell_problem as
with latencies as (
    select file_id, row_number, column_name, number_cell(cell) as cell, try_cast(number_cell(cell) as double) as latency_us,
        lower(trim(cell)) in ('nan', '-nan', '+nan') as is_nan
    from (unpivot (select file_id, row_number, average_us, profiling_average_us, duration_us from staged_row)
          on average_us, profiling_average_us, duration_us into name column_name value cell)
), numbers as (
    select file_id, row_number, column_name, number_cell(cell) as cell
    from (unpivot (select * exclude (average_us, profiling_average_us, duration_us) from staged_row)
          on columns(lambda name: list_contains(getvariable('number_columns'), name)) into name column_name value cell)
), problems as (
    select file_id, row_number, 'input_shapes' as column_name, true as is_fatal, 1 as precedence,
        if(len(shape_slots) = 0, 'blank_shape', 'malformed_shape') as reason
    from slot_row where not is_communication and not coalesce(shapes_are_well_formed, false)
    union all
    select file_id, row_number, 'output_shapes', false, 9, 'malformed_shape' from slot_row where not outputs_are_well_formed
    union all
    select file_id, row_number, 'input_dtypes', false, 9, 'dtype_count_mismatch' from operand_row
    where not is_communication and coalesce(shapes_are_well_formed, false)
        and list_bool_or(list_transform(operand_dtypes, lambda dtype: dtype is null or dtype in ('', 'DT_UNDEFINED')))
    union all
    select file_id, row_number, column_name, true, 2, 'not_an_integer' from numbers
    where list_contains(getvariable('integer_columns'), column_name) and cell is not null
        and not regexp_full_match(cell, '[+-]?[0-9]{1,18}(\.0*)?')
    union all
    select file_id, row_number, column_name, false, 9,
        'not_a_number'
    from numbers where not list_contains(getvariable('integer_columns'), column_name) and cell is not null
        and try_cast(cell as double) is null
    union all
    select file_id, row_number, needed, true, 4, 'blank_cell' from staged_row
    join loading_file using (file_id), (values ('message_bytes'), ('num_devices')) as required(needed)
    where is_communication and number_cell(case needed when 'message_bytes' then message_bytes else num_devices end) is null
    union all
    select l.file_id, l.row_number, l.column_name, r.raw_latency_us is null, 5,
        case when is_nan or not isfinite(latency_us) then 'latency_not_finite'
             when latency_us is null then 'latency_not_a_number' else 'latency_negative' end
    from latencies as l join slot_row as r using (file_id, row_number)
    where is_nan or (l.cell is not null and (latency_us is null or not isfinite(latency_us) or latency_us < 0))
)
select problems.*, csv_name as header from problems
left join (select column_name, min(csv_name) as csv_name from csv_column group by column_name) using (column_name)
