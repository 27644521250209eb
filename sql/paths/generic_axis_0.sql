-- Regime and axis of any kernel that grows with its first dimension; inputs sharing that dimension grow with it.
-- reads: cells
-- source: profiling RFC phase 2, section 3.1; an input that repeats the trailing dims of the first one is fixed
select item_id, file_id, input_limit,
    to_json(struct_pack(input_count := len(shapes), input_dtypes := operand_dtypes,
        shape_signature := list_transform(shapes, lambda shape, place:
            case when place = 1 or (shape[1] = shapes[1][1] and shape <> shapes[1][len(shapes[1]) - len(shape) + 1:])
                      or shape = shapes[1]
                 then concat_ws(',', '*', nullif(array_to_string(shape[2:], ','), ''))
                 else array_to_string(shape, ',') end),
        input_gaps := operand_gaps))::varchar as regime_key,
    coalesce(array_to_string(operand_formats, ';'), '') as input_formats,
    coalesce(array_to_string(output_dtypes, ';'), '') as output_dtypes,
    coalesce(list_bool_and(list_transform(operand_formats, lambda f: f <> 'FRACTAL_NZ')), true) as is_nd,
    shapes[1][1]::double as axis_1, 0.0::double as axis_2, 0.0::double as axis_3, 0.0::double as axis_4,
    case when len(shapes) = 0 then 'input_shapes_missing'
         when list_bool_or(list_transform(operand_dtypes, lambda dtype: coalesce(dtype, '') in ('', 'DT_UNDEFINED')))
             then 'input_dtypes_missing'
         when is_measured and operand_formats is null then 'input_formats_missing' end as reason
from (select *, list_transform(operand_shapes, lambda shape: strip_batch_of_one(shape)) as shapes from cells)
