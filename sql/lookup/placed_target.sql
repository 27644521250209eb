-- Targets with their place on the axes of a path, as the path's own query gave it.
-- param: placed varchar [JSON list: item, kernel file, input limit, regime key, formats, output dtypes, axes, reason]
select unnest(from_json($placed::varchar, '[{"item_id": "INTEGER", "file_id": "INTEGER", "input_limit": "INTEGER",
    "regime_key": "VARCHAR", "input_formats": "VARCHAR", "output_dtypes": "VARCHAR", "is_nd": "BOOLEAN",
    "axis_1": "DOUBLE", "axis_2": "DOUBLE", "axis_3": "DOUBLE", "axis_4": "DOUBLE", "reason": "VARCHAR"}]'), recursive := true)
