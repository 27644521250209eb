-- Sound rows whose latency cells are all blank or zero.
insert into unmeasured_row
select o.file_id, o.version_id, o.kernel_type, o.row_number, o.line_number,
    s.input_shapes, s.input_dtypes, s.input_formats, s.output_shapes, s.output_dtypes
from operand_row as o join staged_row as s using (file_id, row_number)
where o.latency_us is null
    and not exists (select 1 from cell_problem as p
        where p.is_fatal and p.file_id = o.file_id and p.row_number = o.row_number)
order by o.file_id, o.row_number
