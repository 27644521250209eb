-- What is wrong with the cells of staged rows; fatal problems reject the row.
create or replace temp table cell_problem as
with odd_rows as (
    select staged_id, odd_numbers, unnest(json_keys(odd_numbers)) as column_name from staged_row where odd_numbers is not null
), odd_cells as (
    select staged_id, column_name, json_extract_string(odd_numbers, '$.' || column_name) as raw, number_cell(raw) as cell,
        try_cast(cell as double) as number, lower(trim(raw)) in ('nan', '-nan', '+nan') as is_nan,
        column_name in ('average_us', 'profiling_average_us', 'duration_us') as is_latency
    from odd_rows
), integral_rows as (
    select staged_id from staged_row
    where is_plain_integer(columns(lambda name: list_contains(getvariable('integer_columns'), name)))
), integers as (
    select staged_id, column_name, number_cell(cell) as cell
    from (unpivot (select * from staged_row where staged_id not in (select staged_id from integral_rows))
          on columns(lambda name: list_contains(getvariable('integer_columns'), name)) into name column_name value cell)
), problems as (
    select staged_id, 'input_shapes' as column_name, true as is_fatal, 1 as precedence,
        if(len(shape_slots) = 0, 'blank_shape', 'malformed_shape') as reason
    from operand_row where not is_communication and not coalesce(shapes_are_well_formed, false)
    union all
    select staged_id, 'output_shapes', false, 9, 'malformed_shape' from operand_row where not outputs_are_well_formed
    union all
    select staged_id, 'input_dtypes', false, 9, 'dtype_count_mismatch' from operand_row
    where not is_communication and coalesce(shapes_are_well_formed, false)
        and list_bool_or(list_transform(operand_dtypes, lambda dtype: dtype is null or dtype in ('', 'DT_UNDEFINED')))
    union all
    select staged_id, column_name, true, 2, 'not_an_integer' from integers
    where cell is not null and (not regexp_full_match(cell, '[+-]?[0-9]{1,18}(\.0*)?')
        or (list_contains(getvariable('short_integer_columns'), column_name) and try_cast(cell as integer) is null))
    union all
    select staged_id, column_name, false, 9, 'not_a_number' from odd_cells
    where not is_latency and cell is not null and finite_number(cell) is null
    union all
    select staged_id, needed, true, 4, 'blank_cell' from staged_row as s
    join loading_file using (file_id), (values ('message_bytes'), ('num_devices')) as required(needed)
    where is_communication and number_cell(case needed when 'message_bytes' then message_bytes else num_devices end) is null
    union all
    select o.staged_id, o.column_name, r.raw_latency_us is null, 5,
        case when is_nan or not isfinite(number) then 'latency_not_finite'
             when number is null then 'latency_not_a_number' else 'latency_negative' end
    from odd_cells as o join operand_row as r using (staged_id)
    where is_latency and (is_nan or (cell is not null and (number is null or not isfinite(number) or number < 0)))
)
select problems.*, list_filter(column_names, lambda name: list_contains(csv_names, name))[1] as header
from problems join operand_row using (staged_id) join source_file using (file_id)
left join (select column_name, list(csv_name) as csv_names from csv_column group by column_name) using (column_name)
