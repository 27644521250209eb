-- Regime and axes M, K, N of matrix multiplication, for measurements and targets alike.
-- reads: cells
-- source: profiling RFC phase 1, section 5.5; weights may be (K, N) or (N, K), H of batched kernels is regime
select item_id, file_id, input_limit,
    to_json(struct_pack(input_count := len(operand_shapes), input_dtypes := operand_dtypes,
        batch_dims := [activation[1:len(activation) - 2], weight[1:len(weight) - 2]],
        input_gaps := operand_gaps))::varchar as regime_key,
    coalesce(array_to_string(operand_formats, ';'), '') as input_formats,
    coalesce(array_to_string(output_dtypes, ';'), '') as output_dtypes,
    coalesce(list_bool_and(list_transform(operand_formats, lambda f: f <> 'FRACTAL_NZ')), true) as is_nd,
    activation[-2]::double as axis_1, activation[-1]::double as axis_2,
    (case when weight[-2] = activation[-1] then weight[-1] when weight[-1] = activation[-1] then weight[-2] end)::double
        as axis_3,
    0.0::double as axis_4,
    case when len(operand_shapes) < 2 then 'input_shapes_lt_2'
         when list_bool_or(list_transform(operand_dtypes, lambda dtype: coalesce(dtype, '') in ('', 'DT_UNDEFINED')))
             then 'input_dtypes_missing'
         when is_measured and operand_formats is null then 'input_formats_missing'
         when len(activation) < 2 or len(weight) < 2 or axis_3 is null then 'matmul_axes_unextractable' end as reason
from (
    select *,
        case when is_batched then operand_shapes[1] else strip_batch_of_one(operand_shapes[1]) end as activation,
        case when is_batched then operand_shapes[2] else strip_batch_of_one(operand_shapes[2]) end as weight
    from cells
)
