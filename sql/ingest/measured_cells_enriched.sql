-- Measurements as the cells of a path that reads enrichment columns, once per use of their kernel.
-- param: path varchar [path name]
select m.* replace (
        case when use.input_limit > 0 then operand_shapes[1:use.input_limit] else operand_shapes end as operand_shapes,
        case when use.input_limit > 0 then operand_dtypes[1:use.input_limit] else operand_dtypes end as operand_dtypes,
        case when use.input_limit > 0 then operand_formats[1:use.input_limit] else operand_formats end as operand_formats,
        case when use.input_limit > 0 then operand_gaps[1:use.input_limit] else operand_gaps end as operand_gaps),
    row_id as item_id, use.input_limit, coalesce(is_batched, false) as is_batched, f.column_names, true as is_measured
from measurement as m join path_use as use using (file_id) join source_file as f using (file_id)
left join kernel_trait as t on t.kernel_type = m.kernel_type
where use.path = $path
