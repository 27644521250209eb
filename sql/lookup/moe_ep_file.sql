-- Files that record the expert-parallel size, among the wanted ones.
-- param: file_ids integer[] [source_file.file_id]
select file_id from source_file
where file_id in (select unnest($file_ids)) and list_contains(column_names, 'EP Size')
order by file_id
