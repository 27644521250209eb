-- Which coordinate of which regime every measurement of one path belongs to.
-- param: path varchar [path name]
-- reads: placed
select regime_id, p.item_id as row_id, axis_1, axis_2, axis_3, axis_4
from placed as p
join regime as r on r.path = $path and r.file_id = p.file_id and r.input_limit = p.input_limit
    and r.regime_key = p.regime_key and r.input_formats = p.input_formats and r.output_dtypes = p.output_dtypes
where p.reason is null
