-- Units of the axes of a declared kernel and which of its cells can exist; nulls for other kernels.
-- param: file_id integer [the file]
select d.feasible_cells, d.axis_units
from (select $file_id as file_id) left join declared_file as d using (file_id)
