-- Regime and token axis of the fused MoE kernel (dispatch, two grouped matmuls, combine): all but tokens must be equal.
-- reads: cells
-- source: profiling RFC phase 2, section 4.1.1; the CSV holds x, GMM1, GMM2, expert ids, two scales and routing weights
select item_id, file_id, input_limit,
    to_json(struct_pack(quant_subtype := quant_subtype, activation_format := activation_format,
        input_dtypes := operand_dtypes, gmm1_weight_shape := gmm1, gmm2_weight_shape := gmm2, local_experts := gmm1[1],
        hidden := activation[-1], topk := expert_ids[-1], ep_size := ep_size))::varchar as regime_key,
    coalesce(array_to_string(operand_formats, ';'), '') as input_formats,
    coalesce(array_to_string(output_dtypes, ';'), '') as output_dtypes,
    coalesce(list_bool_and(list_transform(operand_formats, lambda f: f <> 'FRACTAL_NZ')), true) as is_nd,
    tokens as axis_1, 0.0::double as axis_2, 0.0::double as axis_3, 0.0::double as axis_4,
    case when len(operand_shapes) = 0 then 'input_shapes_missing'
         when list_bool_or(list_transform(operand_dtypes, lambda dtype: coalesce(dtype, '') in ('', 'DT_UNDEFINED')))
             then 'input_dtypes_missing'
         when is_measured and operand_formats is null then 'input_formats_missing'
         when len(operand_shapes) <> 7 or list_sum(operand_gaps) > 0 then 'moe_physical_signature_incomplete'
         when len(gmm1) <> 3 or len(gmm2) <> 3 then 'moe_weight_shapes_unextractable'
         when quant_subtype is null then 'moe_subtype_unknown'
         when len(activation) < 2 or tokens < 1 then 'token_axis_unextractable'
         when ep_size is null then 'ep_size_missing'
         when ep_size < 1 then 'ep_size_invalid'
         when operand_dtypes[4] <> 'INT32' or len(expert_ids) < 2 or expert_ids[-1] < 1
             or list_product(expert_ids[1:len(expert_ids) - 1]) <> tokens then 'topk_unextractable' end as reason
from (
    select *, operand_shapes[1] as activation, operand_shapes[2] as gmm1, operand_shapes[3] as gmm2,
        operand_shapes[4] as expert_ids, coalesce(operand_formats[1], 'ND') as activation_format,
        list_product(operand_shapes[1][1:len(operand_shapes[1]) - 1]) as tokens,
        case when not is_measured then runtime_quant_mode
             when operand_dtypes[2] <> operand_dtypes[3] then null
             when operand_dtypes[2] in ('DT_BF16', 'FLOAT16', 'FLOAT') then 'plain'
             when operand_dtypes[2] = 'INT8' then 'w8a8'
             when operand_dtypes[2] = 'INT4' then 'int4'
             when operand_dtypes[2] in ('FLOAT8_E4M3FN', 'FLOAT8_E5M2') then 'fp8'
             when operand_dtypes[2] = 'FLOAT4_E2M1' then 'mxfp4' end as quant_subtype
    from cells where input_limit = 0
)
