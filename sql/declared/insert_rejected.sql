-- Rows of one kernel that cannot be used, with their reasons.
-- param: file_id integer [the file]
-- param: rejections json [array of objects: row_number, line_number, column_name, reason, cell]
insert into rejected_row by name
select $file_id as file_id, rejection.* from (
    select unnest(from_json($rejections, '[{"row_number": "bigint", "line_number": "bigint", "column_name": "varchar",
        "reason": "varchar", "cell": "varchar"}]')) as rejection
)
