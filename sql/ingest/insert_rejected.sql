-- Rows with a fatal problem, one record each: the first problem in reading order.
insert into rejected_row
select file_id, row_number, line_number, header, reason,
    left(case column_name when 'input_shapes' then input_shapes
        else json_extract_string(to_json(s), '$.' || column_name) end, 200)
from cell_problem join staged_row as s using (file_id, row_number)
where is_fatal
qualify row_number() over (partition by file_id, row_number order by precedence, column_name) = 1
