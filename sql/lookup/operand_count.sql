-- How many operands the rows of each kernel have.
-- param: file_ids integer[] [files of the kernels]
select file_id, list_sort(list(distinct len(operand_shapes))) as operand_counts
from measurement
where file_id in (select unnest($file_ids))
group by file_id
order by file_id
