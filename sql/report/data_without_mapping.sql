-- CSVs that no mapping names, the largest first.
select version_key, kind, kernel_type, file_name, status, rows_stored
from csv_without_mapping
order by rows_stored desc, version_key, file_name
