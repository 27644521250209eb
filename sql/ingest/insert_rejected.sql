-- Rows with a fatal problem, one record each: the first problem in reading order.
insert into rejected_row
select r.file_id, r.row_number, r.line_number, header, reason,
    left(case column_name when 'input_shapes' then s.input_shapes
        else coalesce(json_extract_string(s.odd_numbers, '$.' || column_name), json_extract_string(to_json(s), '$.' || column_name)) end, 200)
from cell_problem join operand_row as r using (staged_id) join staged_row as s using (staged_id)
where is_fatal
qualify row_number() over (partition by staged_id order by precedence, column_name) = 1
order by staged_id
