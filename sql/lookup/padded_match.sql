-- Candidates all of whose operands match, some of them padded, the least padded first.
-- param: candidates varchar [JSON list: id, position, distance, measured group, shapes of both sides, family of the kernel]
-- order: padding ratio, dtype, kernel, latency column, content
with candidates as (
    select unnest(from_json($candidates::varchar, '[{"id": "INTEGER", "position": "INTEGER", "distance": "INTEGER",
        "latency_rank": "INTEGER", "signature_id": "BIGINT", "row_id": "BIGINT", "shapes": "BIGINT[][]",
        "measured_shapes": "BIGINT[][]", "is_transposable": "BOOLEAN", "is_flattened": "BOOLEAN", "is_merged": "BOOLEAN"}]'),
        recursive := true)
), operands as (
    select * exclude (shapes, measured_shapes), len(shapes) as operand_count, generate_subscripts(shapes, 1) as slot,
        unnest(shapes) as asked, unnest(bare_shapes(shapes)) as bare, unnest(flattened(bare_shapes(shapes))) as flat,
        unnest(merged(bare_shapes(shapes))) as merge, unnest(measured_shapes[1:len(shapes)]) as measured,
        unnest(bare_shapes(measured_shapes[1:len(shapes)])) as bare_measured
    from candidates where len(measured_shapes) >= len(shapes)
), judged as (
    select *, operand_match(asked, bare, if(is_transposable and slot > 1,
            list_concat(bare[1:len(bare) - 2], [bare[-1], bare[-2]]), null), if(is_flattened, flat, null),
            if(is_merged, merge, null), measured, bare_measured) as held,
        if(held[2] is null, 1.0, list_product(asked) / list_product(measured)) as ratio
    from operands
)
select id, position, distance, row_id, concat_ws('+', arg_max(held[1], slot) filter (held[1] <> ''), 'padding') as rule,
    product(ratio) as padding_ratio
from judged
group by id, position, distance, latency_rank, signature_id, row_id, operand_count
having count(held) = operand_count and count(held[2]) > 0
order by id, padding_ratio, distance, position, latency_rank, signature_id, row_id
