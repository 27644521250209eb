-- Takes away the exact keys of leaving measurements; rows of equal content share them and leave together.
delete from exact_key where (file_id, signature_id) in (
    select (file_id, signature_id) from measurement semi join leaving_row using (row_id))
