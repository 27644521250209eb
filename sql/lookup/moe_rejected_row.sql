-- Rows of the wanted files that the path of fused MoE kernels cannot use, by reason.
-- param: file_ids integer[] [source_file.file_id]
select file_id, reason, row_count from dropped_point
where path = 'moe_fused' and file_id in (select unnest($file_ids))
order by file_id, reason
