-- Measurements whose operands equal a scattered cache write in everything but the number of cache lines.
-- param: targets varchar [JSON list: id, position, distance, kernel file, operand shapes, dtypes, gaps]
-- source: cache (any, F), index (n, 1), update (n, F), all ND; the one output is the cache
with targets as (
    select unnest(from_json($targets, '[{"id": "INTEGER", "position": "INTEGER", "distance": "INTEGER",
        "file_id": "INTEGER", "shapes": "BIGINT[][]", "dtypes": "VARCHAR[]", "gaps": "BIGINT[]"}]'), recursive := true)
)
select t.id, t.position, t.distance, t.file_id, m.row_id, m.line_number, m.latency_us, m.latency_rank, m.latency_column,
    m.signature_id
from targets as t join measurement as m on m.file_id = t.file_id
where len(m.operand_shapes) = 3 and len(m.operand_shapes[1]) = 2 and m.operand_shapes[1][2] = t.shapes[1][2]
    and m.operand_shapes[2:] = t.shapes[2:] and m.operand_dtypes = t.dtypes
    and list_bool_and(list_transform(m.operand_formats, lambda f: f = 'ND'))
    and (list_sum(m.operand_gaps) = 0 or m.operand_gaps = t.gaps)
    and m.output_shapes = [m.operand_shapes[1]] and m.output_dtypes = [m.operand_dtypes[1]] and m.output_formats = ['ND']
