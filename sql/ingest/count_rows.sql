-- Stored, rejected and unmeasured rows of the files just loaded.
update source_file set
    rows_stored = (select count(*) from measurement as m where m.file_id = source_file.file_id),
    rows_rejected = (select count(*) from rejected_row as r where r.file_id = source_file.file_id),
    rows_without_latency = (select count(*) from unmeasured_row as u where u.file_id = source_file.file_id)
where file_id in (select file_id from loading_file)
