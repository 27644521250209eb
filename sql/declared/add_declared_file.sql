-- What declared a kernel of a table.
-- param: file json [object, keys are the columns of declared_file]
insert into declared_file by name
select file.* from (
    select from_json($file, '{"file_id": "integer", "declaration": "varchar", "declaration_json": "varchar",
        "repository": "varchar", "source_commit": "varchar", "licence": "varchar", "axis_names": ["varchar"],
        "axis_units": ["varchar"], "axis_transforms": ["varchar"], "regime_columns": ["varchar"],
        "backend_column": "varchar", "feasible_cells": "varchar", "rows_filtered": "bigint"}') as file
)
