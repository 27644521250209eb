-- Regime and axis of kernels whose time follows the size of their one output (gather, index, concat).
-- reads: cells
-- source: profiling RFC phase 1 policy generic_compute.axis = output_numel
select item_id, file_id, input_limit,
    to_json(struct_pack(input_count := len(operand_shapes), input_dtypes := operand_dtypes,
        output_tail_shape := output[2:], input_gaps := operand_gaps))::varchar as regime_key,
    coalesce(array_to_string(operand_formats, ';'), '') as input_formats,
    coalesce(array_to_string(output_dtypes, ';'), '') as output_dtypes,
    coalesce(list_bool_and(list_transform(operand_formats, lambda f: f <> 'FRACTAL_NZ')), true) as is_nd,
    case when len(output) = 0 then 1.0 else list_product(output) end as axis_1,
    0.0::double as axis_2, 0.0::double as axis_3, 0.0::double as axis_4,
    case when len(operand_shapes) = 0 then 'input_shapes_missing'
         when list_bool_or(list_transform(operand_dtypes, lambda dtype: coalesce(dtype, '') in ('', 'DT_UNDEFINED')))
             then 'input_dtypes_missing'
         when is_measured and operand_formats is null then 'input_formats_missing'
         when coalesce(len(output_shapes), 0) = 0 or output is null then 'generic_compute_output_shape_unavailable'
         when len(output_shapes) > 1 then 'generic_compute_output_numel_multi_output_unsupported' end as reason
from (select *, strip_batch_of_one(output_shapes[1]) as output from cells)
