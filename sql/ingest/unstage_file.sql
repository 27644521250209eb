-- Takes a file that cannot be read as it is out of staging again.
-- param: file_id integer [source_file.file_id]
-- template: staged_part is the table of the file
delete from staged_part where file_id = $file_id
