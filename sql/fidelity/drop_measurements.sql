-- Takes away the leaving measurements themselves.
delete from measurement where row_id in (select row_id from leaving_row)
