-- Regime and token axis of the MLA cache update: cache, index and update must agree in all but the rows written.
-- reads: cells
-- source: profiling RFC phase 2, section 4.4.3; the complete cache shape is regime, a runtime tensor is stored ND
select item_id, file_id, input_limit,
    to_json(struct_pack(cache_dtype := operand_dtypes[1], index_dtype := operand_dtypes[2], update_dtype := operand_dtypes[3],
        cache_shape := operand_shapes[1], update_tail := if(len(update_shape) > 1, update_shape[-1], null),
        input_formats := formats))::varchar as regime_key,
    coalesce(array_to_string(formats, ';'), '') as input_formats, '' as output_dtypes,
    coalesce(list_bool_and(list_transform(formats, lambda f: f <> 'FRACTAL_NZ')), true) as is_nd,
    case when len(update_shape) > 2 then list_product(update_shape[1:len(update_shape) - 1]) else update_shape[1]::double
        end as axis_1,
    0.0::double as axis_2, 0.0::double as axis_3, 0.0::double as axis_4,
    case when len(operand_shapes) = 0 then 'input_shapes_missing'
         when list_bool_or(list_transform(operand_dtypes, lambda dtype: coalesce(dtype, '') in ('', 'DT_UNDEFINED')))
             then 'input_dtypes_missing'
         when formats is null then 'input_formats_missing'
         when len(operand_shapes) <> 3 or list_sum(operand_gaps) > 0 then 'scatter_shape_unextractable' end as reason
from (
    select *, operand_shapes[3] as update_shape,
        if(is_measured, operand_formats, list_transform(operand_shapes, lambda shape: 'ND')) as formats
    from cells
)
