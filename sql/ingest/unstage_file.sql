-- Takes a file that cannot be read as it is out of staging again.
-- param: file_id integer [source_file.file_id]
delete from staged_row where file_id = $file_id
