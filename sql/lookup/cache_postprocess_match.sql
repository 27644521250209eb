-- Measurements whose operands equal a KV cache update in everything but the number of cache blocks.
-- param: targets varchar [JSON list: id, position, distance, kernel file, operand shapes, dtypes, gaps]
-- source: first five operands equal; both caches of rank 4 with equal trailing dims, all ND
with targets as (
    select unnest(from_json($targets, '[{"id": "INTEGER", "position": "INTEGER", "distance": "INTEGER",
        "file_id": "INTEGER", "shapes": "BIGINT[][]", "dtypes": "VARCHAR[]", "gaps": "BIGINT[]"}]'), recursive := true)
)
select t.id, t.position, t.distance, t.file_id, m.row_id, m.line_number, m.latency_us, m.latency_rank, m.latency_column,
    m.signature_id
from targets as t join measurement as m on m.file_id = t.file_id
where len(m.operand_shapes) >= 7 and m.operand_shapes[1:5] = t.shapes[1:5]
    and len(m.operand_shapes[6]) = 4 and m.operand_shapes[6][2:] = t.shapes[6][2:]
    and len(m.operand_shapes[7]) = 4 and m.operand_shapes[7][2:] = t.shapes[7][2:]
    and m.operand_dtypes[1:7] = t.dtypes[1:7]
    and list_bool_and(list_transform(m.operand_formats, lambda f: f = 'ND'))
    and (list_sum(m.operand_gaps[1:7]) = 0 or m.operand_gaps[1:7] = t.gaps[1:7])
