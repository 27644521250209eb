-- The targets of one call, typed, once per kernel and spelling of the dtypes that may answer them.
-- param: targets varchar [JSON list: id, kernel file and position, dtype distance, operand shapes, dtypes and gaps as suffix]
select unnest(from_json($targets, '[{"id": "INTEGER", "file_id": "INTEGER", "position": "INTEGER", "distance": "INTEGER",
    "shapes": "BIGINT[][]", "suffix": "VARCHAR"}]'), recursive := true)
