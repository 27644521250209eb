-- Files without the columns that a collective needs.
-- param: file_ids integer[] [files asked about]
select file_id, list_filter(['message_bytes', 'num_devices'], lambda name: not list_contains(column_names, name)) as missing_columns
from source_file
where file_id in (select unnest($file_ids)) and not list_has_all(column_names, ['message_bytes', 'num_devices'])
order by file_id
