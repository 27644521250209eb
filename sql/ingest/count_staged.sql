-- Rows of each staged file, and where the first one is.
select file_id, min(staged_id) as first_row, count(*) as rows_staged from staged_row group by file_id
