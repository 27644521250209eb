-- Candidates operand by operand, under every way to hold the asked shape against the measured one.
-- param: candidates varchar [JSON list: id, position, distance, measured group and asked shapes]
with candidates as (
    select unnest(from_json($candidates, '[{"id": "INTEGER", "position": "INTEGER", "distance": "INTEGER",
        "latency_rank": "INTEGER", "signature_id": "BIGINT", "row_id": "BIGINT", "shapes": "BIGINT[][]"}]'), recursive := true)
), pairs as (
    select c.* exclude (shapes), len(shapes) as operand_count, kernel_type, unnest(shapes) as asked, unnest(operand_shapes[1:len(shapes)]) as measured,
        unnest(bare_shapes(shapes)) as bare, unnest(bare_shapes(operand_shapes[1:len(shapes)])) as bare_measured,
        unnest(flattened(bare_shapes(shapes))) as flat, unnest(merged(bare_shapes(shapes))) as merge,
        generate_subscripts(shapes, 1) as slot
    from candidates as c join measurement using (row_id)
)
select id, position, distance, latency_rank, signature_id, row_id, operand_count, slot, list_product(asked) / list_product(measured) as ratio, unnest([
    {'preference': 0, 'label': 'identity', 'padded': '', 'asked': asked, 'measured': measured,
        'may_pad': len(asked) = len(bare)},
    {'preference': 1, 'label': 'batch_strip', 'padded': '', 'asked': bare, 'measured': measured, 'may_pad': true},
    {'preference': 2, 'label': 'batch_strip', 'padded': 'batch_strip', 'asked': bare, 'measured': bare_measured,
        'may_pad': true},
    {'preference': 3, 'label': 'transpose', 'padded': '', 'asked': if(is_transposable and slot > 1,
        list_concat(bare[1:len(bare) - 2], [bare[-1], bare[-2]]), null), 'measured': measured, 'may_pad': false},
    {'preference': 4, 'label': 'flatten_3d', 'padded': 'flatten_3d', 'asked': if(is_flattened, flat, null),
        'measured': measured, 'may_pad': true},
    {'preference': 5, 'label': 'merge_last_dims', 'padded': 'merge_last_dims', 'asked': if(is_merged, merge, null),
        'measured': measured, 'may_pad': true}], recursive := true)
from pairs left join kernel_trait using (kernel_type)
