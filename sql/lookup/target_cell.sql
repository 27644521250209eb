-- The targets of one path as the cells that it reads, once per kernel and spelling of the dtypes.
-- param: targets varchar [JSON list: item, place of its kind, shapes of operands and outputs]
-- param: kinds varchar [JSON list: kernel file, input limit, dtypes, gaps]
select * exclude (kind), unnest(kind), null::varchar[] as operand_formats, false as is_measured
from (select * replace (from_json($kinds::varchar, '[{"file_id": "INTEGER", "input_limit": "INTEGER", "is_batched": "BOOLEAN",
          "operand_dtypes": "VARCHAR[]", "operand_gaps": "BIGINT[]", "output_dtypes": "VARCHAR[]"}]')[kind + 1] as kind)
      from (select unnest(from_json($targets::varchar, '[{"item_id": "INTEGER", "kind": "INTEGER", "operand_shapes": "BIGINT[][]",
          "output_shapes": "BIGINT[][]"}]'), recursive := true)))
