-- The best group of equal measurements whose first output fits each target's, whatever its inputs are.
-- param: targets varchar [JSON list: id, file of the kernel, operand shapes, output shape and dtype]
-- param: aggregation varchar [mean, median, min or first]
-- reads: bytes
-- order: match quality, padding, dtype (own, half precision, scaled least), latency column, place for first,
-- order: equal inputs, content
-- source: exact lookup rules for elementwise operators; byte-ratio scaling is base behaviour only
with targets as (
    select unnest(from_json($targets, '[{"id": "INTEGER", "file_id": "INTEGER", "inputs": "BIGINT[][]",
        "output": "BIGINT[]", "dtype": "VARCHAR"}]'), recursive := true)
), asked as (
    select *, unnest(list_concat([{'form': bare, 'is_flat': false}], case when len(bare) = 3
        then [{'form': [bare[1] * bare[2], bare[3]], 'is_flat': true}] else [] end), recursive := true)
    from (select *, bare_shapes([output])[1] as bare from targets)
), measured as (
    select file_id, signature_id, latency_rank, latency_column, latency_us, row_id, line_number, operand_shapes,
        output_shapes[1] as shape, output_dtypes[1] as measured_dtype,
        unnest(list_distinct(output_shapes[1:1] || bare_shapes(output_shapes[1:1]))) as measured_form
    from measurement where file_id in (select file_id from targets) and len(output_shapes[1]) > 0
), fitting as (
    select a.*, m.* exclude (file_id), a.form <> m.measured_form as is_padded,
        case when m.measured_dtype = a.dtype then 0 when a.dtype = 'FLOAT16' and m.measured_dtype = 'DT_BF16' then 1
            else 2 end as dtype_order
    from asked as a join measured as m on a.file_id = m.file_id and len(a.form) = len(m.measured_form)
        and padded_sizes([a.form]) = padded_sizes([m.measured_form]) and (not is_flat or len(m.shape) = 2)
    where dims_pad(a.form, m.measured_form)
), judged as (
    select f.*, case when is_padded then 2 when output = shape then 0 else 1 end as quality,
        case when is_padded then list_product(form) / list_product(measured_form) else 1.0 end as padding_ratio,
        case when dtype_order < 2 then 1.0 else own.bytes / other.bytes end as dtype_scale,
        min(row_id) over (partition by id, signature_id, latency_rank, latency_column) as first_row_id
    from fitting as f left join bytes as own on own.dtype = f.dtype
    left join bytes as other on other.dtype = f.measured_dtype
), best as (
    select * from judged where dtype_scale is not null
    qualify rank() over (partition by id order by quality, padding_ratio, dtype_order, abs(ln(dtype_scale)),
        latency_rank, case when $aggregation = 'first' then first_row_id end, inputs <> operand_shapes, signature_id,
        latency_column) = 1
)
select id, 0 as position, if(is_padded, 'elementwise+padding', 'elementwise') as rule, quality, padding_ratio,
    if(dtype_order = 1, 1, 0) as distance, dtype_order = 2 as is_scaled, dtype_scale, measured_dtype,
    [shape] as measured_shapes, operand_shapes as measured_inputs, latency_column, count(*) as measurement_count,
    min(row_id) as row_id, arg_min(line_number, row_id) as line_number,
    case $aggregation when 'mean' then avg(latency_us order by latency_us) when 'median' then median(latency_us)
        when 'min' then min(latency_us) else arg_min(latency_us, row_id) end as raw_latency_us,
    raw_latency_us * dtype_scale as latency_us, min(b.latency_us) * dtype_scale as latency_min_us,
    max(b.latency_us) * dtype_scale as latency_max_us
from best as b
group by id, is_padded, quality, padding_ratio, dtype_order, dtype_scale, measured_dtype, shape, operand_shapes,
    latency_column
order by id
