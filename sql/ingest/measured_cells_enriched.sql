-- Measurements as the cells of a path that reads enrichment columns, once per use of their kernel.
-- param: path varchar [path name]
select m.*, row_id as item_id, use.input_limit, coalesce(is_batched, false) as is_batched, f.column_names,
    true as is_measured
from measurement as m join path_use as use using (file_id) join source_file as f using (file_id)
left join kernel_trait using (kernel_type)
where use.path = $path
