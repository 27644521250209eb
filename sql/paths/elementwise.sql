-- Regime and axes of elementwise kernels: the dims of the first output, axis_1 for rank 2 only.
-- reads: cells
-- source: profiling RFC phase 2, section 4.2.1; inputs are right-aligned with the output, one that does not broadcast
-- source: is fixed, or grows with axis_0 when it starts with it; formats and unknown dims are never mixed
select item_id, file_id, input_limit,
    to_json(struct_pack(output_rank := len(output), output_dtype := output_dtypes[1],
        output_tail := case when len(output) > 2 then output[2:] else [] end,
        input_count := len(inputs), input_dtypes := operand_dtypes,
        broadcast_pattern := list_transform(list_zip(inputs, patterns), lambda pair: case
            when len(list_filter(pair[2], lambda word: word = 'other')) = 0 then pair[2]
            when pair[1][1] = output[1] then list_concat(['axis_0'], pair[1][2:]::varchar[])
            else pair[1]::varchar[] end),
        input_gaps := operand_gaps))::varchar as regime_key,
    coalesce(array_to_string(operand_formats, ';'), 'unknown') as input_formats,
    coalesce(array_to_string(output_dtypes, ';'), '') as output_dtypes,
    coalesce(list_bool_and(list_transform(operand_formats, lambda f: f <> 'FRACTAL_NZ')), true) as is_nd,
    output[1]::double as axis_1, case when len(output) = 2 then output[2] else 0 end::double as axis_2,
    0.0::double as axis_3, 0.0::double as axis_4,
    case when coalesce(len(output), 0) = 0 then 'elementwise_output_shape_unavailable'
         when coalesce(output_dtypes[1], '') in ('', 'DT_UNDEFINED') then 'elementwise_output_dtype_missing'
         when len(inputs) = 0 then 'input_shapes_missing'
         when list_bool_or(list_transform(operand_dtypes, lambda dtype: coalesce(dtype, '') in ('', 'DT_UNDEFINED')))
             then 'input_dtypes_missing' end as reason
from (
    select *, list_transform(inputs, lambda shape: case when len(shape) > len(output) then ['other'] else
        list_transform(output, lambda size, place: case
            when place <= len(output) - len(shape) then 'missing'
            when shape[place - len(output) + len(shape)] = size then 'same'
            when shape[place - len(output) + len(shape)] = 1 then 'broadcast' else 'other' end) end) as patterns
    from (
        select *, list_transform(operand_shapes, lambda shape: case
            when len(shape) > len(output) and list_product(shape[1:len(shape) - len(output)]) = 1
            then shape[len(shape) - len(output) + 1:] else shape end) as inputs
        from (select *, strip_batch_of_one(output_shapes[1]) as output from cells)
    )
)
