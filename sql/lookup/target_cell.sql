-- The targets of one path as the cells that it reads, once per kernel and spelling of the dtypes.
-- param: targets varchar [JSON list: item, kernel file, input limit, operand shapes, dtypes, gaps, outputs]
select *, null::varchar[] as operand_formats, false as is_measured
from (select unnest(from_json($targets::varchar, '[{"item_id": "INTEGER", "file_id": "INTEGER", "input_limit": "INTEGER",
    "is_batched": "BOOLEAN", "operand_shapes": "BIGINT[][]", "operand_dtypes": "VARCHAR[]", "operand_gaps": "BIGINT[]",
    "output_shapes": "BIGINT[][]", "output_dtypes": "VARCHAR[]"}]'), recursive := true))
