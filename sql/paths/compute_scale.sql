-- Regime and axes M, K of dynamic quantisation; the shapes of the outputs after the first tell the scale mode.
-- reads: cells
-- source: profiling RFC phase 2, section 4.4.2; the target is ND, inputs after the first must be alike, absent or not
with outputs as (
    select *, operand_shapes[1] as activation, operand_shapes[1][-1] as k,
        coalesce(list_product(operand_shapes[1][1:len(operand_shapes[1]) - 1]), 1)::double as m,
        coalesce(operand_formats, if(is_measured, null, list_transform(operand_shapes, lambda shape: 'ND'))) as formats,
        list_filter(list_zip(output_shapes, output_dtypes,
            coalesce(output_formats, if(is_measured, null, list_transform(output_dtypes, lambda dtype: 'ND')))),
            lambda slot: slot[1] is not null) as slots
    from cells
), modes as (
    select *, list_transform(slots[2:], lambda slot: case
            when len(slot[1]) = 0 then {'mode': 'per_tensor', 'block': null::bigint}
            when kernel_type = 'DynamicBlockQuant' and len(slot[1]) = 1 and slot[1][1] between 1 and k
                then {'mode': 'per_block', 'block': ceil(k / slot[1][1])::bigint}
            when list_product(slot[1]) = m then {'mode': 'per_token', 'block': null}
            when list_product(slot[1]) = k then {'mode': 'per_channel', 'block': null} end) as scales
    from outputs
)
select item_id, file_id, input_limit,
    to_json(struct_pack(input_count := len(operand_shapes), input_dtypes := operand_dtypes, input_formats := formats,
        other_inputs := list_transform(operand_shapes[2:],
            lambda shape: if(shape = [k], 'K', array_to_string(shape, ','))),
        output_count := len(slots), output_dtypes := list_transform(slots, lambda slot: slot[2]),
        output_formats := list_transform(slots, lambda slot: slot[3]), scale_mode := scales[1].mode,
        block_size := list_max(list_transform(scales, lambda scale: scale.block)),
        auxiliary_modes := list_transform(scales, lambda scale: scale.mode), input_gaps := operand_gaps))::varchar
        as regime_key,
    coalesce(array_to_string(formats, ';'), '') as input_formats,
    coalesce(array_to_string(list_transform(slots, lambda slot: slot[2]), ';'), '') as output_dtypes,
    coalesce(list_bool_and(list_transform(formats, lambda f: f <> 'FRACTAL_NZ')), true) as is_nd,
    m as axis_1, k::double as axis_2, 0.0::double as axis_3, 0.0::double as axis_4,
    case when len(operand_shapes) = 0 then 'input_shapes_missing'
         when list_bool_or(list_transform(operand_dtypes, lambda dtype: coalesce(dtype, '') in ('', 'DT_UNDEFINED')))
             then 'input_dtypes_missing'
         when formats is null then 'input_formats_missing'
         when coalesce(len(slots), 0) < 2 then 'compute_scale_outputs_lt_2'
         when list_bool_or(list_transform(slots, lambda slot: coalesce(slot[2], '') in ('', 'DT_UNDEFINED')))
             or len(output_dtypes) <> len(output_shapes) then 'output_dtypes_mismatch'
         when list_bool_or(list_transform(slots, lambda slot: coalesce(slot[3], '') = ''))
             or len(output_formats) <> len(output_shapes) then 'output_formats_mismatch'
         when nd_shape(slots[1][1], slots[1][3]) <> activation then 'quant_output_shape_mismatch'
         when k = 0 or m = 0 then 'compute_scale_axes_unextractable'
         when list_bool_or(list_transform(scales, lambda scale: scale.mode is null))
             or len(list_distinct(list_transform(scales, lambda scale: scale.block))) > 1
             then 'compute_scale_mode_unextractable' end as reason
from modes
