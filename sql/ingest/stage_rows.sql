-- Rows just read, as staged rows of their file.
-- param: file_id integer [source_file.file_id]
insert into staged_row by name
select $file_id as file_id, row_number + 1 as line_number, * from raw_row
