-- Columns that a kernel's CSV lacks and another version has.
select version_key, kernel_type, layout, version_count, column_count, missing_fields, missing_columns, own_columns
from schema_drift
where len(missing_columns) > 0 or len(own_columns) > 0
order by len(missing_fields) desc, kernel_type, version_key
