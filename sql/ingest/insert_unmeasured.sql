-- Sound rows whose latency cells are all blank or zero.
insert into unmeasured_row
select o.file_id, o.version_id, o.kernel_type, o.row_number, o.line_number,
    s.input_shapes, s.input_dtypes, s.input_formats, s.output_shapes, s.output_dtypes
from operand_row as o join staged_row as s using (staged_id)
where o.latency_us is null and staged_id not in (select staged_id from cell_problem where is_fatal)
order by staged_id
