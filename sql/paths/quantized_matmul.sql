-- Regime and axes M, K, N of quantised matrix multiplication; N comes from the output, for a packed weight hides it.
-- reads: cells
-- source: profiling RFC phase 2, section 4.4.2; FRACTAL_NZ weights are whole blocks of 16 or 32, so K and N round up
with outputs as (
    select *, operand_shapes[1][1] as m, operand_shapes[1][2] as k, operand_shapes[2] as weight,
        list_filter(list_zip(output_shapes, output_dtypes,
            coalesce(output_formats, if(is_measured, null, list_transform(output_dtypes, lambda dtype: 'ND')))),
            lambda slot: slot[1] is not null) as slots
    from cells
), weights as (
    select *, slots[1][1][2] as n,
        list_distinct([k, if(operand_formats[2] = 'FRACTAL_NZ', (k + 15) // 16 * 16, k),
            if(operand_formats[2] = 'FRACTAL_NZ', (k + 31) // 32 * 32, k)]) as ks,
        list_distinct([n, if(operand_formats[2] = 'FRACTAL_NZ', (n + 15) // 16 * 16, n),
            if(operand_formats[2] = 'FRACTAL_NZ', (n + 31) // 32 * 32, n)]) as ns
    from outputs
), packings as (
    select *, case when len(weight) <> 2 or list_product(weight) = 0 then null
        when (list_contains(ks, weight[1]) and list_contains(ns, weight[2]))
            or (list_contains(ns, weight[1]) and list_contains(ks, weight[2])) then 1
        when (list_has_any(weight, [k, n])) and (k * n) % (weight[1] * weight[2]) = 0
            then (k * n) // (weight[1] * weight[2]) end as packing
    from weights
)
select item_id, file_id, input_limit,
    to_json(struct_pack(input_count := len(operand_shapes), input_dtypes := operand_dtypes, weight_packing := packing,
        output_count := len(slots), output_dtypes := list_transform(slots, lambda slot: slot[2]),
        output_formats := list_transform(slots, lambda slot: slot[3]), input_gaps := operand_gaps))::varchar
        as regime_key,
    coalesce(array_to_string(operand_formats, ';'), '') as input_formats,
    coalesce(array_to_string(list_transform(slots, lambda slot: slot[2]), ';'), '') as output_dtypes,
    coalesce(list_bool_and(list_transform(operand_formats, lambda f: f <> 'FRACTAL_NZ')), true) as is_nd,
    m::double as axis_1, k::double as axis_2, n::double as axis_3, 0.0::double as axis_4,
    case when len(operand_shapes) < 2 then 'input_shapes_lt_2'
         when list_bool_or(list_transform(operand_dtypes, lambda dtype: coalesce(dtype, '') in ('', 'DT_UNDEFINED')))
             then 'input_dtypes_missing'
         when is_measured and operand_formats is null then 'input_formats_missing'
         when coalesce(len(slots), 0) = 0 or len(output_dtypes) <> len(output_shapes)
             or list_bool_or(list_transform(slots, lambda slot: coalesce(slot[2], '') in ('', 'DT_UNDEFINED')
                 or coalesce(slot[3], '') = '')) then 'output_signature_missing'
         when len(operand_shapes[1]) <> 2 or m = 0 or k = 0 or packing is null or slots[1][1] <> [m, n]
             then 'matmul_axes_unextractable' end as reason
from packings
